"""Base worlds on disk are those that would have been made, and nothing else is read."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sregym_env import apps
from sregym_env.errors import UsageError
from sregym_env.runtime.chance import Chance
from sregym_env.worlds import kept, lived

APP = apps.app("hotel-reservation")
NUMBER = 5
EPISODE = (
    "from sregym_env.envs.env import SREGymEnv; env = SREGymEnv(); "
    "print(env.reset(seed=7, options={'fault': 'scale_to_zero', 'target': 'geo'})[0]); "
    "print(env.step('kubectl get all -A -o wide')[0]); print(env.step('alerts')[0])"
)
"""What an agent sees at first, printed by a process of its own."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where base worlds are kept, by a process that knows none yet."""
    monkeypatch.setenv(kept.VARIABLE, str(tmp_path / "worlds"))
    monkeypatch.setattr(lived, "_bases", {})
    return tmp_path / "worlds"


def later() -> str:
    """What has become of a world drawn from the base world in an hour."""
    world = lived._base(APP, NUMBER).renewal.draw(Chance(("kept",)), {})
    world.reseed(3)
    world.advance(3600.0)
    return world.digest()


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a process that has made no world."""
    monkeypatch.setattr(lived, "_bases", {})


def unmade(*_: object) -> None:
    raise AssertionError("made although it is kept")


def test_what_is_read_lives_on_as_what_was_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = later()
    (file,) = folder.rglob("*.world")
    assert file.name == f"{APP.name}-{NUMBER}.world"
    assert file.stat().st_mode & 0o077 == 0
    forget(monkeypatch)
    monkeypatch.setattr(lived, "_prepared", unmade)
    assert later() == made


@pytest.mark.parametrize(
    "spoil", [lambda whole: whole[:-7], lambda whole: whole[:40] + b"\0" + whole[41:], lambda whole: b""]
)
def test_what_is_damaged_is_made_anew(
    spoil: Callable[[bytes], bytes], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = later()
    (file,) = folder.rglob("*.world")
    whole = file.read_bytes()
    file.write_bytes(spoil(whole))
    forget(monkeypatch)
    assert later() == made
    assert kept.read(APP, NUMBER) is not None


def test_nothing_is_kept_where_nobody_asked_for_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(kept.VARIABLE)
    later()
    assert not folder.exists()


def test_an_application_that_may_change_by_itself_is_not_kept(folder: Path) -> None:
    own = replace(APP, place="")
    kept.write(own, NUMBER, lived._base(APP, NUMBER).renewal)
    assert kept.read(own, NUMBER) is None


def test_what_others_can_write_is_not_read(folder: Path) -> None:
    kept.read(APP, NUMBER)
    (mine,) = folder.iterdir()
    mine.chmod(0o777)
    kept._folder.cache_clear()
    with pytest.raises(UsageError, match=r"SREGYM_CACHE=.* others can write to .* of your own"):
        kept.read(APP, NUMBER)
    kept._folder.cache_clear()


def test_what_is_no_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(kept.VARIABLE, str(tmp_path / "file"))
    with pytest.raises(UsageError, match=r"SREGYM_CACHE=.*/file: .*; name a folder that can be written"):
        kept.read(APP, NUMBER)


def test_a_full_disk_is_warned_of_and_the_world_is_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(kept, "NamedTemporaryFile", full)
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        later()
    assert not list(folder.rglob("*.world"))


def test_what_could_not_be_put_in_its_place_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(kept.os, "replace", refused)
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        later()
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_another_process_sees_the_same_bytes_from_a_kept_world(tmp_path: Path) -> None:
    def seen(seed: str, folder: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed, kept.VARIABLE: folder}
        ran = subprocess.run(
            [sys.executable, "-c", EPISODE], env=environment, capture_output=True, text=True, check=True
        )
        return ran.stdout

    made = seen("1", str(tmp_path))
    assert len(list(tmp_path.rglob("*.world"))) == 1
    assert seen("2", str(tmp_path)) == made == seen("3", "")

"""tar in memory: what it writes others can read, what others write it can read, and it is bounded."""

from __future__ import annotations

import gzip
import io
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sregym_env.shell.files import Files, decoded, encoded
from sregym_env.shell.shell import Shell


@pytest.fixture
def shell() -> Shell:
    return Shell(Files({"/d/a": "A\n", "/d/s/b": "B\n"}), {})


def members(text: str) -> dict[str, bytes | None]:
    """What Python's own reader finds in an archive."""
    found: dict[str, bytes | None] = {}
    with tarfile.open(fileobj=io.BytesIO(encoded(text))) as archive:
        for info in archive:
            opened = archive.extractfile(info)
            found[info.name] = None if opened is None else opened.read()
    return found


def archive(entries: dict[str, bytes]) -> str:
    """An archive as another program makes it."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as out:
        for name, data in entries.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
    return decoded(made.getvalue())


def test_writes_what_others_read(shell: Shell) -> None:
    done = shell.call(["tar", "cf", "-", "/d"])
    assert members(done.stdout) == {"d": None, "d/a": b"A\n", "d/s": None, "d/s/b": b"B\n"}
    assert done.stderr == "tar: Removing leading `/' from member names\n"
    assert len(encoded(done.stdout)) % 10_240 == 0


def test_reads_what_others_write(shell: Shell) -> None:
    done = shell.call(["tar", "-xmf", "-", "-C", "/tmp"], archive({"x/y": b"one", "z": b"\xff\x00"}))
    assert (done.exit_code, shell.files.bytes_of("/tmp/x/y"), shell.files.bytes_of("/tmp/z")) == (
        0,
        b"one",
        b"\xff\x00",
    )


@pytest.mark.parametrize(
    ("line", "out"),
    [
        ("tar cf x.tar d && tar tf x.tar", "d/\nd/a\nd/s/\nd/s/b\n"),
        ("tar czf x.tgz -C d a s/b && tar tzf x.tgz", "a\ns/b\n"),
        ("tar cf - d | tar xf - -O d/a", "A\n"),
        ("tar cf - d | tar tf - d/s", "d/s/\nd/s/b\n"),
        ("tar cf - --exclude=s d | tar tf -", "d/\nd/a\n"),
        ("tar cf x.tar d; mkdir e; tar xf x.tar -C e --strip-components=1; cat e/s/b", "B\n"),
    ],
)
def test_round_trips(shell: Shell, line: str, out: str) -> None:
    done = shell.run(line)
    assert (done.stdout, done.exit_code) == (out, 0), done.stderr


@pytest.mark.parametrize(
    ("line", "complaint", "code"),
    [
        ("tar", "You must specify one of the", 2),
        ("tar xf nothing.tar", "nothing.tar: Cannot open: No such file or directory", 2),
        ("tar cf - nothing", "nothing: Cannot stat: No such file or directory", 2),
        ("tar xf /d/a", "This does not look like a tar archive", 2),
        ("tar xf - -C /nowhere < /d/a", "/nowhere: Cannot open: No such file or directory", 2),
        ("tar cf -", "Cowardly refusing to create an empty archive", 2),
        ("tar czf - d | head -c 50 | tar xz", "", 2),
        ("tar -Q", "invalid option -- 'Q'", 2),
    ],
)
def test_complaints(shell: Shell, line: str, complaint: str, code: int) -> None:
    done = shell.run(line)
    assert complaint in done.stderr
    assert done.exit_code == code


def test_nothing_is_put_outside(shell: Shell) -> None:
    done = shell.call(["tar", "xf", "-", "-C", "/tmp"], archive({"../../etc/x": b"1", "/abs": b"2"}))
    assert shell.files.bytes_of("/etc/x") is None
    assert shell.files.bytes_of("/tmp/abs") == b"2"
    assert "Member name contains '..'" in done.stderr


def test_a_bomb_does_not_go_off(shell: Shell) -> None:
    bomb = gzip.compress(bytes(80 * 1024 * 1024), mtime=0)
    done = shell.call(["tar", "xzf", "-"], decoded(bomb))
    assert (done.exit_code, "No space left on device" in done.stderr) == (2, True)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=2000))
def test_nonsense_never_raises(data: bytes) -> None:
    shell = Shell(Files(), {})
    done = shell.call(["tar", "xf", "-"], decoded(data))
    assert done.exit_code in (0, 2)


@given(st.binary(max_size=200))
def test_files_keep_bytes(data: bytes) -> None:
    files = Files()
    files.put_text("/x", decoded(data))
    assert files.bytes_of("/x") == data

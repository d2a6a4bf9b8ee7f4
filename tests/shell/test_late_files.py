"""A tree that is made when somebody looks into it."""

from __future__ import annotations

import pytest

from sregym_env.shell.files import FileEntry, Files, LateFiles
from sregym_env.shell.shell import Shell


class Laid:
    """What fills a tree, and how often it has."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, tree: Files) -> None:
        self.times += 1
        tree.add({"/etc/conf": "a=1\n", "/srv/old": "old\n"})


def shell_of(laid: Laid) -> tuple[Shell, LateFiles]:
    files = LateFiles(laid, mtime=5.0)
    return Shell(files, {}, env={}, cwd="/", clock=lambda: 9.0), files


@pytest.mark.parametrize(
    ("line", "times", "changed"),
    [
        ("true", 0, {}),
        ("x=1; echo $((x + 1))", 0, {}),
        ("sh -c 'echo $((1 + 1))'", 0, {}),
        ("cat /etc/conf", 1, {}),
        ("cat /etc/conf /srv/old", 1, {}),
        ("echo a=1 > /etc/conf", 1, {}),
        ("echo b > /etc/conf", 1, {"/etc/conf": "b\n"}),
        ("rm /srv/old; mkdir /srv/new", 1, {"/srv/new/": "", "/srv/old": None}),
    ],
)
def test_it_is_made_once_and_by_who_looks(line: str, times: int, changed: dict[str, str | None]) -> None:
    laid = Laid()
    shell, files = shell_of(laid)
    assert shell.run(line).exit_code == 0
    assert files.changed() == changed
    assert laid.times == times


def test_what_was_there_is_as_old_as_the_question_and_what_is_written_is_new() -> None:
    shell, files = shell_of(Laid())
    shell.run("echo b > /srv/new")
    entries = {path: files.entry(path) for path in ("/etc/conf", "/srv/new")}
    assert {path: entry.mtime for path, entry in entries.items() if isinstance(entry, FileEntry)} == {
        "/etc/conf": 5.0,
        "/srv/new": 9.0,
    }


def test_a_fork_knows_what_was_there_and_changes_nothing_here() -> None:
    laid = Laid()
    _, files = shell_of(laid)
    fork = files.fork()
    fork.put_text("/etc/conf", "b\n")
    assert files.text("/etc/conf") == "a=1\n" and files.changed() == {}


def test_a_point_needs_no_tree_and_leads_back_to_it_as_it_was_made() -> None:
    laid = Laid()
    shell, files = shell_of(laid)
    first = files.point()
    files.back(first)
    assert laid.times == 0
    shell.run("echo b > /etc/conf")
    second = files.point()
    shell.run("rm /srv/old")
    files.back(second)
    assert files.changed() == {"/etc/conf": "b\n"}
    files.back(first)
    assert (files.text("/etc/conf"), files.changed(), laid.times) == ("a=1\n", {}, 1)

"""The shell adapter: what scripts print, what they may not do, and that sessions are values."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.files import Files
from sregym_env.shell.shell import Limits, Shell


def tell(argv: list[str], stdin: str, shell: Shell) -> ExecResult:
    """Say where and how it was called; fail loudly when asked to."""
    if "fail" in argv:
        return ExecResult("half\n", "told: no\n", 3)
    return ExecResult(f"{' '.join(argv[1:])}|{stdin.strip()}|{shell.cwd}\n")


@pytest.fixture
def shell() -> Shell:
    return Shell(
        Files({"/etc/list": "a\nb\nc\n"}),
        {"tell": tell},
        env={"NAME": "x", "PATH": "/bin"},
        cwd="/etc",
        clock=lambda: 1_786_010_400.0,
        limits=Limits(commands=3000, output_bytes=5000),
    )


@pytest.mark.parametrize(
    ("script", "stdout", "code"),
    [
        ("cat list | grep -c .", "3\n", 0),
        ("echo $NAME; X=2; echo $((X * 21))", "x\n42\n", 0),
        ("for i in 1 2; do tell $i; done", "1||/etc\n2||/etc\n", 0),
        ("echo in | tell a b", "a b|in|/etc\n", 0),
        ("cd /tmp && tell", "||/tmp\n", 0),
        ("tell <<EOF\n$NAME\nEOF\n", "|x|/etc\n", 0),
        ("sh -c 'cat <<EOF\none\nEOF\necho $1' name arg", "one\narg\n", 0),
        ("/bin/cat /etc/list | head -1", "a\n", 0),
        ("env", "NAME=x\nPATH=/bin\n", 0),
        ("env NAME=y printenv NAME", "y\n", 0),
        ("mkdir -p /tmp/d; date_of() { stat -c %Y $1; }; date_of /tmp/d", "1786010400\n", 0),
        ("echo > /tmp/f; stat -c %Y /tmp/f", "1786010400\n", 0),
        ("jq -n now", "1786010400\n", 0),
        ("echo $SECONDS", "0\n", 0),
        ("arr=(p q r); echo ${arr[$(echo 1)]}", "q\n", 0),
        ("false || echo no; exit 4", "no\n", 4),
        ("tell fail", "half\n", 3),
    ],
)
def test_scripts(shell: Shell, script: str, stdout: str, code: int) -> None:
    result = shell.run(script)
    assert (result.stdout, result.exit_code) == (stdout, code)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exec sh -c 'echo a b'", "a b\n"),
        ("exec -a name sh -c 'echo a'", "a\n"),
        ("exec -- echo -c -l", "-c -l\n"),
        ("mkdir -p d; echo 123 > d/f; du -x -a d | wc -l", "2\n"),
    ],
)
def test_options_of_exec_and_du(script: str, said: str) -> None:
    assert Shell(Files(), {}).run(script).stdout == said


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("nosuch", "nosuch: command not found"),
        ("nosuch | cat", "nosuch: command not found"),
        ("tell fail | wc -l", "told: no"),
        ("if then", "syntax error"),
        ("while true; do :; done", "Killed"),
        ("for i in $(seq 900); do for j in $(seq 900); do :; done; done", "Killed"),
        ("f() { f; }; f", "depth exceeded"),
        ("a=x; while true; do a=$a$a; done", "cannot allocate memory"),
        ("echo {1..100000000}", "too long"),
        ("seq 1 100000000", "Killed"),
        ("printf '%100000000d' 1", "value too large"),
        ("cat /nowhere", "No such file or directory"),
        ("cat < /nowhere", "No such file or directory"),
        ("echo " + "x" * 300_000, "Argument list too long"),
    ],
)
def test_refusals(shell: Shell, script: str, error: str) -> None:
    result = shell.run(script)
    assert error in result.stderr


@pytest.mark.parametrize("name", ["date", "sleep", "timeout", "curl", "shuf", "python", "hostname"])
def test_nothing_reaches_the_real_machine(shell: Shell, name: str) -> None:
    assert shell.run(f"{name} 1").exit_code == 127


def test_output_is_cut(shell: Shell) -> None:
    result = shell.run("for i in $(seq 1 2000); do echo 0123456789; done")
    assert len(result.stdout) < 5100
    assert "output cut" in result.stdout


def test_state_persists_and_forks_diverge(shell: Shell) -> None:
    shell.run("cd /tmp; V=1; g() { echo fun; }; echo text > note")
    twin = shell.fork()
    shell.run("V=2; echo more >> note")
    assert twin.run("echo $V; g; cat note; pwd").stdout == "1\nfun\ntext\n/tmp\n"
    assert shell.run("echo $V; cat note").stdout == "2\ntext\nmore\n"


def test_chance_repeats_and_forks_with_the_session() -> None:
    one, other = (Shell(Files(), {}, seed=5) for _ in range(2))
    assert one.run("echo $RANDOM $RANDOM") == other.run("echo $RANDOM $RANDOM")
    assert one.fork().run("echo $RANDOM") == one.run("echo $RANDOM")


def test_awk_draws_the_same_numbers(shell: Shell) -> None:
    script = "awk 'BEGIN { print rand() }'"
    assert shell.run(script) == shell.run(script)


def test_it_runs_inside_a_running_event_loop(shell: Shell) -> None:
    async def inside() -> str:
        loop = asyncio.get_running_loop()
        text = shell.run("arr=(a b); echo ${arr[$(echo 1)]} | cat").stdout
        assert asyncio.get_running_loop() is loop
        assert "nest" not in type(loop).run_until_complete.__module__
        return text

    assert asyncio.run(inside()) == "b\n"


def test_a_command_can_be_called_without_a_shell(shell: Shell) -> None:
    assert shell.call(["tell", "$NAME", ";"], "in").stdout == "$NAME ;|in|/etc\n"
    assert not shell.has("date")


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60))
def test_no_script_raises(script: str) -> None:
    result = Shell(Files(), {"tell": tell}, limits=Limits(commands=200)).run(script)
    assert 0 <= result.exit_code <= 255


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! | grep -cE '(a+)+$'", "0\n"),
        ("echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! | sed -E 's/(a|a)+$/x/' | tail -c 3", "a!\n"),
        ("[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! =~ (a+)+$ ]] || echo no", "no\n"),
        ("echo 10.244.1.3 | grep -oE '([0-9]+\\.)+[0-9]+'", "10.244.1.3\n"),
        ("echo foo-bar | sed -E 's/(foo)-(bar)/\\2-\\1/'", "bar-foo\n"),
        ("echo aXbx | sed 's/x/-/gi'", "a-b-\n"),
    ],
)
def test_patterns_take_linear_time_and_mean_the_same(script: str, expected: str) -> None:
    assert Shell(Files(), {}).run(script).stdout == expected


def test_a_pattern_that_could_run_without_end_is_refused() -> None:
    result = Shell(Files(), {}).run("echo aaa | grep -P '(?=x)(a+)+$'")
    assert (result.exit_code, "too complex" in result.stderr) == (2, True)


def test_nothing_is_sent_through_files_of_devices(shell: Shell) -> None:
    said = shell.run(
        "echo > /dev/tcp/geo/8083 && echo open; exec 3<>/dev/udp/geo/53; echo $?; echo a > /dev/stdout"
    )
    assert said.text == (
        "bash: /dev/tcp/geo/8083: No such file or directory\n"
        "bash: /dev/udp/geo/53: No such file or directory\n1\na\n"
    )


def test_sed_in_place_says_what_was_wrong_by_its_exit_code(shell: Shell) -> None:
    assert shell.run("sed -i s/a/b/ nofile; echo $?").text.endswith("No such file or directory\n2\n")
    assert shell.run("sed -i s/a/b/ /; echo $?").text.endswith("not a regular file\n4\n")


def test_jq_goes_on_after_what_is_not_a_number(shell: Shell) -> None:
    said = shell.run("jq -n '[1, 2] | .[nan]'; echo $?; jq -n '5 % nan'; echo $?")
    assert said.text == "jq: error (at <unknown>): Not a whole number\n5\n" * 2


def test_no_command_takes_more_of_a_processor_than_of_the_clock(shell: Shell) -> None:
    found = dict(line.split("\t") for line in shell.run("time true").stderr.split("\n") if line)
    real, user, system = (
        float(found[name].removeprefix("0m").rstrip("s")) for name in ("real", "user", "sys")
    )
    assert 0.0 < user + system <= real


def test_a_process_substitution_is_a_part_of_its_word(shell: Shell) -> None:
    said = shell.run(
        "echo a=<(echo x); printf '%s\\n' --from-file=tls.crt=<(echo y) z; cat <(echo a)<(echo b); wc -l < <(echo c)"
    )
    assert said.stdout.splitlines()[0].startswith("a=/dev/fd/")
    assert said.stdout.splitlines()[1].startswith("--from-file=tls.crt=/dev/fd/")
    assert said.stdout.splitlines()[2] == "z"


def test_grep_without_a_pattern_says_how_it_is_called(shell: Shell) -> None:
    said = shell.run("grep")
    assert said.exit_code == 2
    assert said.stderr.startswith("Usage: grep [OPTION]... PATTERNS [FILE]...\n")

"""Nothing that is typed runs for long, however it was meant."""

from __future__ import annotations

import pytest

from sregym_env.shell.files import Files
from sregym_env.shell.shell import Limits, Shell
from tests.effort import at_most

HOSTILE = [
    "echo {a..z}{a..z}{a..z}{a..z}{a..z}{a..z}{a..z}",
    "echo {1..99999}{1..99999}",
    "echo {1..9999999999}",
    'x={a,b}; for i in {1..40}; do eval "x=\\$x$x"; done; eval echo $x',
    "while true; do :; done",
    "until false; do true; done",
    "for ((;;)); do :; done",
    "while :; do while :; do :; done; done",
    "f() { f; }; f",
    "f() { f | f; }; f",
    "f() { $(f); }; f",
    "f() { ( f ); }; f",
    "f() { eval f; }; f",
    "f() { f & }; f",
    "f() { f; f; }; f",
    "f() { cat <(f); }; f",
    ":(){ :|:& };:",
    "a=x; while true; do a=$a$a; done",
    "a=x; while true; do a+=$a; done",
    'a=(x); while true; do a+=("${a[@]}"); done',
    "a=$(printf 'x%.0s' {1..5000}); while true; do a=${a//x/xx}; done",
    "x=$(printf '%200000s' a); while true; do echo \"$x$x$x$x\" > /dev/null; done",
    "x=$(printf '%200000s' a); while true; do y=$(echo \"$x\"); done",
    "x=$(printf '%200000s' a); while true; do echo \"$x\" >> f; done",
    "x=$(printf '%200000s' a); while true; do cat <<< \"$x\" | cat | cat | wc -c; done",
    "while true; do echo a; done > f",
    "while true; do echo a >> f; done",
    "while true; do echo a | grep b; done",
    "while true; do jq -n '[range(1000)]|length'; done",
    "while true; do seq 100000 | sort -rn | tail -1; done",
    "while true; do echo '{}' | jq . | sed s/a/b/ | awk 1 | sort; done",
    "seq 200000 | while read x; do echo $x; done",
    "sed ':a;s/x/xx/g;ba' <<< x",
    "sed ':a;ba' <<< x",
    "sed ':a;s/^/x/;ba' <<< x",
    "awk 'BEGIN { while (1) x = x + 1 }'",
    "awk 'BEGIN { s = \"x\"; while (1) s = s s }'",
    "awk 'function f(n) { return f(n + 1) } BEGIN { f(1) }'",
    "awk 'BEGIN { while (1) a[i++] = i }'",
    "jq -n '[recurse(.+1)]'",
    "jq -n '[limit(1e9; repeat(1))] | length'",
    "jq -n '\"x\" * 1000000000'",
    "jq -n 'def f: f; f'",
    "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | grep -E '^(a|a)*$|(a+)+b'",
    "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | grep -P '(a+)+(?=b)'",
    "[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab =~ ^(a+)+$ ]]",
    "case $(printf 'a%.0s' {1..3000}) in *a*a*a*a*a*a*a*a*b) echo no;; esac",
    "x=$(printf 'a%.0s' {1..3000}); echo ${x##*a*a*a*a*a*b} ${x//*a*a*a*b/} | wc -c",
    "echo $((2**99999999999)) $((9**9**9**9)) $((1<<99999999999))",
    "printf '%99999999999d' 1; printf '%*d' 999999999 1; printf '%.*f' 999999999 1",
    "printf '%s' {1..90000} > f; printf '%1000s' {1..90000} > g; wc -c g",
    "seq 1 100000000; seq 99999999999; seq 1 0.0000001 9",
    "echo " + "(" * 5000,
    "echo $((" + "(" * 5000 + "1" + ")" * 5000 + "))",
    "echo $((" + "-" * 20000 + "1))",
    "echo " + "$(" * 3000 + "echo" + ")" * 3000,
    "echo " + '"$(' * 300 + "echo" + ')"' * 300,
    "echo " + "{" * 20000,
    "echo " + "{a," * 5000 + "b" + "}" * 5000,
    "echo " + "${x:-" * 3000 + "}" * 3000,
    "if true; then " * 3000 + ":" + "; fi" * 3000,
    "[[ " + "! " * 5000 + "a ]]",
    "[[ " + "( " * 5000 + "a" + " )" * 5000 + " ]]",
    "[ " + "! " * 3000 + "a ]",
    "[ " + "\\( " * 3000 + "a" + " \\)" * 3000 + " ]",
    "! " * 50000 + "true",
    "true " + "| true " * 5000,
    "true " + "&& true " * 20000,
    "x=1; " * 50000,
    "cat " + "<<E " * 5000 + "\nE\n" * 5000,
    "cat " + "<(echo) " * 3000,
    "echo x " + "> f " * 20000,
    "exec " + "3>f " * 5000 + "; while true; do exec 3>f; done",
    "ln -s a b; ln -s b a; cat a; cd a; ls -R; while true; do ln -s /tmp x$RANDOM; done",
    "mkdir -p " + "d/" * 3000 + "; ls -R; find . | wc -l; du; tree; rm -r d",
    "for i in {1..2000}; do mkdir d$i; done; for i in {1..2000}; do ls d*/* > /dev/null; done",
    "for i in {1..500}; do echo > f$i; done; echo */*/*/*; echo ****; echo *?*?*?*?*?*?*?z",
    "seq 5000 > f; for i in {1..3000}; do join f f; done",
    "yes='a b c d e f g h'; for i in {1..15}; do yes=\"$yes $yes\"; done; set -- $yes; echo $#; for i in $yes; do :; done",
    "find / -exec find / -exec find / -exec echo {} \\; \\; \\;",
    "seq 100000 | xargs -n1 echo",
    "seq 100000 | xargs -I{} sh -c 'echo {}'",
    "seq 3000 | xargs -n1 -I% bash -c 'while true; do :; done'",
    'bash -c \'bash -c "bash -c true"\'; x=\'bash -c "$x"\'; export x; bash -c "$x"',
    "tr -d '[a*99999999]' <<< x; tr 'a' '[b*99999999]' <<< a; fold -w 1 <<< $(seq 100000)",
    "head -c 99999999999 <<< x; tail -n 99999999999 <<< x; nl -w 99999999999 <<< x; od -N 99999999999 <<< x",
    "alias a='a a' b='b; b'; a; b; alias x='y ' y='x '; x",
    "trap 'false' ERR; false; trap 'echo $(false)' EXIT; set -e; exit",
    'eval "$(printf \'eval "%.0s\' {1..500})"',
    "read -N 999999999 x < /dev/null; mapfile a < <(seq 200000); echo ${#a[@]}",
    "declare -n a=b b=a; echo $a; a=1; a='a[a]'; echo $((a)); b='b+b'; echo $((b))",
    "IFS=$(printf '%5000s' | tr ' ' x); v=$(seq 50000); echo $v | wc -c",
    "diff <(seq 20000) <(seq 20000 -1 1) | tail -1; sort <(seq 100000) | uniq | tail -1",
    'x=$(seq 30000); while read -r l; do echo "$l"; done <<< "$x" | tail -1',
    "x=$(printf 'a%.0s' {1..20000}); while [ -n \"$x\" ]; do x=${x#?}; done",
    "x=$(printf 'a\\n%.0s' {1..20000}); while read -n1 c; do :; done <<< \"$x\"",
    "test " + "a -o " * 30000 + "b",
    "x=$(printf 'eval %.0s' {1..9999}); eval \"$x $x $x $x echo\"",
    "x=$(printf 'a;%.0s' {1..9999}); while true; do eval \"false && { $x$((i++)); }\"; done",
    "x=$(printf 'a;%.0s' {1..9999}); while true; do bash -c \"false && { $x$((i++)); }\"; done",
    "x=$(printf '1+%.0s' {1..9999}); while true; do echo $((0 && ($x$((i++))))); done",
    "x=$(printf 'x|%.0s' {1..9999}); while true; do awk \"/$x$((i++))/\" <<< a; done",
    "x=$(printf 'a.%.0s' {1..9999}); while true; do grep -E \"$x$((i++))\" <<< a; done",
    "x=$(printf 'p;%.0s' {1..9999}); while true; do sed \"$x$((i++))p\" <<< a > /dev/null; done",
    "x=$(printf '.,%.0s' {1..9999}); while true; do jq -n \"empty|$x$((i++))\"; done",
]


@pytest.mark.sampled
@pytest.mark.parametrize("script", HOSTILE, ids=[script[:60] for script in HOSTILE])
def test_everything_comes_to_an_end(script: str) -> None:
    shell = Shell(Files(), {}, cwd="/home")
    with at_most(2.5):
        result = shell.run(script)
    assert len(result.stdout) < 1_100_000
    assert len(result.stderr) < 1_100_000
    assert shell.run("echo still here").stdout == "still here\n"


def test_an_expansion_that_is_too_large_fails_at_once() -> None:
    with at_most(0.1):
        result = Shell(Files(), {}).run(HOSTILE[0])
    assert (result.stderr, result.exit_code) == (
        "bash: {a..z}{a..z}{a..z}{a..z}{a..z}{a..z}{a..: brace expansion too long\n",
        126,
    )


def test_limits_are_the_shells_own() -> None:
    shell = Shell(Files(), {}, limits=Limits(commands=50, depth=5, variable_bytes=100, words=20))
    for script, said in [
        ("for i in 1 2 3 4 5 6 7 8 9; do :; :; :; :; :; done", "Killed"),
        ("f() { g; }; g() { h; }; h() { i; }; i() { j; }; j() { k; }; k() { :; }; f", "depth exceeded"),
        ("x=$(printf '%90s' a); y=$x$x", "cannot allocate memory"),
        ("echo {1..30}", "too long"),
    ]:
        assert said in shell.run(script).stderr

"""``awk`` programs as engineers write them on the output of kubectl."""

from __future__ import annotations

import pytest

from sregym_env.shell.files import Files
from sregym_env.shell.shell import Shell


def made() -> Shell:
    return Shell(
        Files({"/home/oncall/x": ""}), {}, env={"PATH": "/bin"}, cwd="/home/oncall", clock=lambda: 0.0
    )


PODS = """NAME READY STATUS RESTARTS AGE
geo-1 1/1 Running 0 5h
rate-1 0/1 CrashLoopBackOff 3 40s
user-1 1/1 Running 12 5h
"""

CASES = [
    ("NR==1", "NAME READY STATUS RESTARTS AGE\n"),
    ('NR==1 || $2 != "1/1" {print $1}', "NAME\nrate-1\n"),
    ("NR>1 && $4 > 2 {print $1, $4}", "rate-1 3\nuser-1 12\n"),
    ("$3 ~ /Crash/", "rate-1 0/1 CrashLoopBackOff 3 40s\n"),
    ("$3 !~ /Run|STATUS/ {print $NF}", "40s\n"),
    ("!/Running/ {n++} END {print n}", "2\n"),
    ("NR>1 {count[$3]++} END {for (s in count) print s, count[s]}", "Running 2\nCrashLoopBackOff 1\n"),
    ("NR>1 {total += $4} END {printf \"%d %.2f\\n\", total, total / (NR - 1)}", "15 5.00\n"),
    ("NR==2,/Crash/ {print NR}", "2\n3\n"),
    ('{sub(/-1$/, ""); gsub("o", "0")} NR==2 {print; exit}', "ge0-1 1/1 Running 0 5h\n"),
    ('NR==3 {split($2, part, "/"); print part[1] < part[2] ? "down" : "up"}', "down\n"),
    ('NR==2 {$2 = "x"; print; print NF; NF = 2; print}', "geo-1 x Running 0 5h\n5\ngeo-1 x\n"),
    ("function twice(x) {return x * 2} NR==3 {print twice($4) - 1}", "5\n"),
    ("BEGIN {while (i < 3) {i++; if (i == 2) continue; print i}}", "1\n3\n"),
    ('BEGIN {x["a"]; if ("a" in x) print length(x), "b" in x}', "1 0\n"),
    ('NR==3 {print toupper(substr($1, 1, 4)) ":" index($3, "Back") ":" length($3)}', "RATE:10:16\n"),
    ('match($3, /Loop/) {print RSTART, RLENGTH}', "6 4\n"),
    ('NR>1 {print $1 | "sort -r"}', "user-1\nrate-1\ngeo-1\n"),
    ("END {print NR}", "4\n"),
    ("NR % 2 == 0 {print NR; next} {c++} END {print c}", "2\n4\n2\n"),
    ("# a comment\nNR == 1 { print $1 } # and one more\nEND { print 2 ^ 10, -3 % 2, 1 / 4, 1e6, 0.1 + 0.2 }",
     "NAME\n1024 -1 0.25 1000000 0.3\n"),
    ('BEGIN { printf "%-5s|%5s|%05d|%x|%c|%%\\n", "ab", "cd", 42, 255, "xyz" }', "ab   |   cd|00042|ff|x|%\n"),
    ('BEGIN { do { n++ } while (n < 5); print n; print 1 " " 2, 3; print 1==1.0, "a" < "b", "10" < "9" }',
     "5\n1 2 3\n1 1 1\n"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), CASES, ids=[case[0] for case in CASES])
def test_programs(program: str, expected: str) -> None:
    result = made().call(["awk", program], PODS)
    assert (result.stdout, result.stderr, result.exit_code) == (expected, "", 0)


def test_options_files_and_redirection() -> None:
    shell = made()
    script = (
        "printf 'a,1\\nb,2\\n' > in.csv; "
        "awk -F, -v min=1 '$2 > min {print $1 > \"out\"} END {print FILENAME}' in.csv; cat out; "
        "awk -F '[,;]' '{print $2}' OFS=- in.csv; exit 0"
    )
    assert shell.run(script).stdout == "in.csv\nb\n1\n2\n"


def test_what_is_wrong_is_said() -> None:
    shell = made()
    assert shell.call(["awk", "{print $1"], "a\n").exit_code == 1
    assert "syntax error" in shell.call(["awk", "{if (}"], "").stderr
    assert "division by zero" in shell.call(["awk", "BEGIN {print 1/0}"], "").stderr
    assert "cannot open" in shell.call(["awk", "1", "missing"], "").stderr
    assert shell.call(["awk", "BEGIN {exit 3}"], "").exit_code == 3


def test_a_program_without_end_is_stopped() -> None:
    assert made().call(["awk", "BEGIN {while (1) x = x + 1}"], "").exit_code != 0
    assert len(made().call(["awk", 'BEGIN {s = "x"; while (1) s = s s}'], "").stdout) < 10

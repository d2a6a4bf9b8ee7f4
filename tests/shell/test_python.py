"""``python3``: the part of the language that people use on call, and everything else refused."""

from __future__ import annotations

import json

import pytest

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.effort import EffortExceeded, bounded
from sregym_env.shell.commands.python import python
from sregym_env.shell.files import Files
from sregym_env.shell.python.bounds import ROOM, STEPS
from sregym_env.shell.shell import Shell

PODS = {
    "items": [
        {
            "metadata": {
                "name": "geo-1",
                "labels": {"app": "geo"},
                "creationTimestamp": "2026-08-06T09:00:00Z",
            },
            "spec": {
                "nodeName": "n1",
                "containers": [{"name": "c", "resources": {"limits": {"memory": "128Mi"}}}],
            },
            "status": {"phase": "Running", "containerStatuses": [{"restartCount": 4}]},
        },
        {
            "metadata": {
                "name": "rate-1",
                "labels": {"app": "rate"},
                "creationTimestamp": "2026-08-06T09:30:00Z",
            },
            "spec": {"nodeName": "n2", "containers": [{"name": "c"}]},
            "status": {"phase": "Pending"},
        },
    ]
}
REFUSED = "a small part of Python runs on this machine"


def shell() -> Shell:
    files = Files(
        {"/home/me/pods.json": json.dumps(PODS), "/home/me/x.py": "import sys\nprint(sys.argv[1:])\n1/0\n"}
    )
    return Shell(
        files, {"python3": python}, env={"HOME": "/home/me"}, cwd="/home/me", clock=lambda: 1_786_010_400.5
    )


def ran(code: str, stdin: str | None = None, machine: Shell | None = None) -> ExecResult:
    return python(["python3", "-c", code], json.dumps(PODS) if stdin is None else stdin, machine or shell())


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        # One field of a document.
        ("import json,sys; print(json.load(sys.stdin)['items'][0]['metadata']['name'])", "geo-1\n"),
        # A loop with a condition, over several lines.
        (
            "import sys, json\nd = json.load(sys.stdin)\nfor i in d['items']:\n"
            "    if i['status']['phase'] != 'Running':\n        print(i['metadata']['name'], i['spec'].get('nodeName', '-'))",
            "rate-1 n2\n",
        ),
        # A comprehension for its effect, one for its value, and a nested one.
        ("import json,sys; [print(i['metadata']['name']) for i in json.load(sys.stdin)['items']]", "geo-1\nrate-1\n"),
        (
            "import json,sys; print('\\n'.join(c['name'] + '@' + i['spec']['nodeName'] for i in "
            "json.loads(sys.stdin.read())['items'] for c in i['spec']['containers']))",
            "c@n1\nc@n2\n",
        ),
        # Counting, sums, extremes, order.
        ("import json,sys; print(len(json.load(sys.stdin)['items']))", "2\n"),
        (
            "import json,sys; d=json.load(sys.stdin); print(sum(s['restartCount'] for i in d['items'] "
            "for s in i['status'].get('containerStatuses') or []))",
            "4\n",
        ),
        (
            "import json,sys; d=json.load(sys.stdin)['items']; "
            "print(*sorted((i['metadata']['name'] for i in d), key=lambda n: n[::-1], reverse=True), sep=',')",
            "geo-1,rate-1\n",
        ),
        (
            "from collections import Counter; import json, sys\n"
            "print(Counter(i['status']['phase'] for i in json.load(sys.stdin)['items']).most_common())",
            "[('Running', 1), ('Pending', 1)]\n",
        ),
        # Documents written again.
        ("import json,sys; print(json.dumps(json.load(sys.stdin)['items'][0]['metadata']['labels'], indent=2))", '{\n  "app": "geo"\n}\n'),
        # Text as it is laid out.
        ("import json,sys\nfor i in json.load(sys.stdin)['items']: print(f\"{i['metadata']['name']:<8}|{i['status']['phase']!r:>10}\")", "geo-1   | 'Running'\nrate-1  | 'Pending'\n"),
        ("print('%-5s|%05.1f|%d%%' % ('a', 2.345, 7), '{0:>4} {n:,}'.format('x', n=1234567))", "a    |002.3|7%    x 1,234,567\n"),
        # Calculating.
        ("print(2**32, 7/2, 7//2, 5%3, round(10/3, 2), 128*1024*1024, 0x1f, hex(255), int('644', 8))", "4294967296 3.5 3 2 3.33 134217728 31 0xff 420\n"),
        ("import math; print(math.ceil(1.2), math.sqrt(16), max(3, 1, 2), abs(-2), divmod(7, 2))", "2 4.0 3 2 (3, 1)\n"),
        # What is encoded.
        ("import base64; print(base64.b64decode('aGVsbG8=').decode(), base64.b64encode(b'x').decode())", "hello eA==\n"),
        ("from urllib.parse import quote; print(quote('sum(rate(x[1m]))'))", "sum%28rate%28x%5B1m%5D%29%29\n"),
        # Times, by the world's clock.
        ("import time, datetime; print(time.time(), datetime.datetime.utcnow().isoformat())", "1786010400.5 2026-08-06T10:00:00.500000\n"),
        (
            "from datetime import datetime, timezone; import json, sys\n"
            "t = json.load(sys.stdin)['items'][0]['metadata']['creationTimestamp']\n"
            "print((datetime.now(timezone.utc) - datetime.fromisoformat(t.replace('Z', '+00:00'))).total_seconds())",
            "3600.5\n",
        ),
        # Functions, errors that are caught, unpacking, walrus, conditional expressions.
        ("def f(n, k=1):\n  return k if n < 2 else n * f(n - 1)\nprint(f(5), (lambda x: x + 1)(1))", "120 2\n"),
        ("try:\n  {}['a']\nexcept (KeyError, ValueError) as e:\n  print('no', e)\nelse:\n  print(1)\nfinally:\n  print('done')", "no 'a'\ndone\n"),
        ("a, *b = [1, 2, 3]\na, c = c, a = 5, 6\nprint(a, b, c, 'x' if a > 5 else 'y', (z := 3) + z)", "6 [2, 3] 5 x 6\n"),
        ("n = 0\nwhile True:\n  n += 1\n  if n % 2: continue\n  if n > 6: break\n  print(n, end=' ')", "2 4 6 "),
        # Patterns, in linear time.
        ("import re; print(re.findall(r'(\\d+)ms', 'a 12ms b 34ms'), re.search('x=(?P<v>.)', 'x=1').group('v'))", "['12', '34'] 1\n"),
        ("import os; print(os.environ['HOME'], os.getenv('NOPE', '-'), os.path.basename('/a/b'))", "/home/me - b\n"),
        ("d = {'a': {'b': [1, {'c': 2}]}}; d['a']['b'][1]['c'] += 1; del d['a']['b'][0]; print(d, 'a' in d, not d)", "{'a': {'b': [{'c': 3}]}} True False\n"),
    ],
)  # fmt: skip
def test_what_people_type(code: str, printed: str) -> None:
    assert ran(code) == ExecResult(printed)


def test_lines_of_text() -> None:
    code = "import sys\nfor line in sys.stdin:\n    k, v = line.split()\n    print(v, k.upper())"
    assert ran(code, "a 1\nb 2\n").stdout == "1 A\n2 B\n"
    assert ran("import sys; print(len(sys.stdin.readlines()), sys.stdin.read())", "a\nb").stdout == "2 \n"


def test_files_are_the_machines() -> None:
    machine = shell()
    code = (
        "import json\nwith open('pods.json') as f:\n    d = json.load(f)\nd['items'].pop()\n"
        "json.dump(d['items'][0]['spec'], open('/tmp/out.json', 'w'))"
    )
    assert ran(code, "", machine) == ExecResult()
    assert json.loads(machine.files.text("/tmp/out.json") or "") == PODS["items"][0]["spec"]
    assert ran("open('/tmp/out.json', 'a').write('!')", "", machine).exit_code == 0
    assert (machine.files.text("/tmp/out.json") or "").endswith("}!")
    assert "No such file or directory: '/etc/shadow'" in ran("open('/etc/shadow')", "", machine).stderr


def test_programs_in_files_and_on_standard_input() -> None:
    done = python(["python3", "x.py", "a", "b"], "", shell())
    assert (done.stdout, done.exit_code) == ("['a', 'b']\n", 1)
    assert done.stderr == (
        'Traceback (most recent call last):\n  File "/home/me/x.py", line 3, in <module>\n    1/0\n'
        "ZeroDivisionError: division by zero\n"
    )
    assert python(["python3", "-"], "print(1)", shell()) == ExecResult("1\n")
    assert python(["python3"], "for i in range(2):\n  print(i)\n", shell()) == ExecResult("0\n1\n")
    assert shell().run("python3 - a <<'E'\nimport sys\nprint(sys.argv)\nE").stdout == "['-', 'a']\n"


@pytest.mark.parametrize(
    ("code", "complaint", "exit_code"),
    [
        ("import json,sys; json.load(sys.stdin)['nope']", "line 1, in <module>\nKeyError: 'nope'\n", 1),
        ("print(1)\nx = [1][3]", "line 2, in <module>\nIndexError: list index out of range\n", 1),
        ("print(nope)", "NameError: name 'nope' is not defined\n", 1),
        ("import requests", "ModuleNotFoundError: No module named 'requests'\n", 1),
        ("import json; json.loads('{')", "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes", 1),
        ("'a' + 1", "TypeError: ", 1),
        ("None['a']", "TypeError: 'NoneType' object is not subscriptable\n", 1),
        ("(1).nope", "AttributeError: 'int' object has no attribute 'nope'\n", 1),
        ("print(1", "SyntaxError: ", 1),
        ("raise ValueError('x')", "ValueError: x\n", 1),
        ("assert 1 == 2, 'no'", "AssertionError: no\n", 1),
        ("print('\\ud800')", "UnicodeEncodeError: ", 1),
        ("import sys; sys.exit(3)", "", 3),
        ("import sys; sys.exit('gone')", "gone\n", 1),
        ("exit()", "", 0),
    ],
)  # fmt: skip
def test_mistakes_are_told_as_python_tells_them(code: str, complaint: str, exit_code: int) -> None:
    done = ran(code)
    assert complaint in done.stderr and bool(done.stderr) is bool(complaint)
    assert done.exit_code == exit_code


@pytest.mark.parametrize(
    "code",
    [
        "eval('1')", "exec('1')", "compile('1', '', 'eval')", "__import__('os')", "globals()", "getattr(1, 'real')", "vars()",
        "input()", "breakpoint()", "memoryview(b'a')", "().__class__", "''.__class__.__mro__", "print.__self__", "x.__dict__",
        "(lambda: 0).__globals__", "'{0.__class__}'.format(1)", "f'{().__class__}'", "{}.fromkeys([1])", "int.from_bytes(b'a')",
        "import os; os.system('ls')", "import os; os.popen('ls')", "from os import system", "import subprocess", "import socket",
        "import urllib.request", "import ctypes", "import importlib", "import pickle", "import threading", "from json import *",
        "import json; json.codecs", "import json; json.decoder.scanner", "import sys; sys.modules", "import re; re.compile('a')",
        "import json; json.loads = 1", "class A: pass", "async def f(): pass", "def f(): yield 1", "def f(*a): pass", "@f\ndef g(): pass",
        "match 1:\n  case 1: pass", "global x", "print(1j)", "a @ b if 0 else [1] @ [2]", "raise ValueError([1])", "type(1).mro",
    ],
)  # fmt: skip
def test_everything_else_is_refused(code: str) -> None:
    done = ran(code)
    assert (done.stdout, done.exit_code) == ("", 1), done
    assert REFUSED in done.stderr or "NameError" in done.stderr or "AttributeError" in done.stderr, (
        done.stderr
    )
    assert "Error" not in done.stderr or "sregym" not in done.stderr


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "try:\n  while True: pass\nexcept: pass",
        "while True:\n  try:\n    while True: 1/0\n  except Exception: pass",
        "def f(): return f()\nf()", "f = lambda x: x(x)\nf(f)",
        "list(range(10**12))", "sum(range(10**12))", "[x for a in range(10**4) for b in range(10**4) for x in range(10**4)]",
        "'a' * 10**9", "[0] * 10**9", "'x'.ljust(10**9)", "('a' * 10**5).replace('a', 'b' * 10**5)", "','.join(['a' * 10**4] * 10**5)",
        "print(f'{1:>1000000000}')", "'%999999999d' % 1", "'%*d' % (10**9, 1)", "'{:>{}}'.format(1, 10**9)",
        "x = 'a'\nfor i in range(100): x += x", "x = 'a' * 10**6\nfor i in range(10**6): x.upper()",
        "x = 'a' * 10**6\nfor i in range(10**6): x[1:]", "x = 'a' * 10**6\nfor i in range(10**6): x == x + ''",
        "2**10**8", "10**4000 * 10**4000", "x = 7\nfor i in range(200): x *= x", "1 << 10**9", "round(5, -10**9)",
        "x = [1]\nfor i in range(100): x = [x, x]\nprint(x)", "x = (1,)\nfor i in range(100): x = (x, x)\n{x: 1}",
        "x = [1]; y = [1]\nfor i in range(100): x = [x, x]; y = [y, y]\nprint(x == y)", "a = []\na.append(a)\nprint(a)",
        "import json\na = {}\na['a'] = a\njson.dumps(a)", "import json\njson.loads('[' * 10**5)", "-" * 9000 + "1", "(" * 9000,
        "x = []\nfor i in range(10**6): x.insert(0, i)", "x = {i for i in range(10**4)}\nfor i in range(10**5): x | x",
        "f = open('x', 'w')\nfor i in range(10**6): f.write('abc' * 1000)", "import re\nfor i in range(10**5): re.search('a' * 99 + str(i), 'b')",
        "'%s'\n" * 5000 + "1/0",
    ],
)  # fmt: skip
def test_nothing_is_without_bounds(code: str) -> None:
    with bounded() as effort:
        try:
            done = ran(code)
        except EffortExceeded:
            return
    assert done.exit_code in (1, 137)
    assert effort.own >= 0
    assert done.stderr.startswith(("Killed", "Traceback", "python3: a small", "  File"))


def test_bounds_hold_where_nobody_counts() -> None:
    assert STEPS <= 500_000 and ROOM <= 32_000_000
    assert ran("while True: pass") == ExecResult(stderr="Killed\n", exit_code=137)


def test_a_program_leaves_nothing_behind() -> None:
    code = (
        "import json, os, sys\nos.environ['A'] = 'b'\nsys.argv.append(1)\njson = {}\nprint(len(os.environ))"
    )
    machine = shell()
    assert ran(code, "", machine).stdout == ran(code, "", machine).stdout
    assert ran("import sys; print(sys.argv)", "", machine).stdout == "['-c']\n"

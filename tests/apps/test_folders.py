"""An application that is a folder: the guide is followed, and what is wrong is said all at once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest
import yaml
from typer.testing import CliRunner

from sregym_env import apps
from sregym_env.apps.folders import load
from sregym_env.cli.main import app
from sregym_env.cluster.inventory import Inventory
from sregym_env.errors import AppError
from sregym_env.faults.network_policy_block import _covering
from sregym_env.faults.registry import declaration
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.programs.services.drivers import DRIVERS, SPOKEN

GUIDE = (Path(__file__).parents[2] / "docs" / "adding-an-application.md").read_text()
DECLARATION, MANIFESTS = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture
def bookshop(tmp_path: Path) -> Path:
    folder = tmp_path / "bookshop"
    folder.mkdir()
    (folder / "app.yaml").write_text(DECLARATION)
    (folder / "manifests.yaml").write_text(MANIFESTS)
    return folder


def test_the_guide_is_short() -> None:
    assert len(DECLARATION.splitlines()) < 40
    assert len(MANIFESTS.splitlines()) < 100


def test_the_guide_shows_what_the_check_prints(bookshop: Path) -> None:
    answer = CliRunner().invoke(app, ["app", "check", str(bookshop)])
    assert answer.exit_code == 0, answer.output
    shown = re.search(r"\$ sregym app check bookshop\n(.*?)```", GUIDE, re.DOTALL)
    assert shown is not None
    printed = [line.rstrip() for line in answer.output.splitlines()]
    assert "\n".join(printed).startswith(shown[1].rstrip())
    counted = re.search(r"bookshop serves its users; (\d+) pairs", answer.output)
    # Of every fault that strikes any workload, Service or database one for each: more with every fault that is declared.
    assert counted is not None and int(counted[1]) >= 99


def test_it_is_played_by_name_in_a_process_that_is_told_the_folder(bookshop: Path) -> None:
    code = (
        "import gymnasium as gym, sregym_env\n"
        "env = gym.make('SREGym/Pair-v0', app='bookshop', fault='scale_to_zero', target='catalogue')\n"
        "observation, info = env.reset(seed=1)\n"
        "print(env.step('kubectl get deploy catalogue -n bookshop --no-headers')[0])"
    )
    environment = {**os.environ, "SREGYM_APPS": str(bookshop)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert "0/0" in done.stdout


def changed(folder: Path, *path: str, to: object) -> None:
    """Set one value of the declaration; None takes it away."""
    document = yaml.safe_load(DECLARATION)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    if to is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = to
    (folder / "app.yaml").write_text(yaml.safe_dump(document))


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("services", "web"), None, "nothing says what example.com/bookshop/web:1.4 of web does"),
        (("stores", "load"), None, "nobody offers load"),
        (("stores", "queue"), {"program": "redis"}, "no Deployment, StatefulSet or Job is called queue"),
        (("namespace",), "shop", "no manifest makes the namespace shop"),
        (("journeys", "pay"), {"request": "POST /pay"}, "journeys.pay: web has no operation POST /pay"),
        (
            ("services", "web", "operations", "GET /books"),
            [{"ask": "catalogue Lend"}],
            "services.catalogue: no operation Lend, which web asks for",
        ),
        (
            ("services", "web", "operations", "GET /books"),
            [{"ask": "reviews List"}],
            "services.web: no peer is called reviews",
        ),
        (
            ("services", "catalogue", "peers", "cache"),
            {"library": "gomemcached", "address": "cache:11211"},
            "services.catalogue.peers.cache.library",
        ),
        (
            ("services", "web", "operations", "GET /books"),
            [{"think": "1ms"}],
            "no step 'think'; there are compute",
        ),
        (
            ("services", "web", "operations", "GET /books"),
            [{"compute": "1 minute"}],
            "is no time; write 800us",
        ),
        (
            ("services", "web", "operations", "GET /books"),
            [{"compute": 0.8}],
            "0.8 has no unit; write 800us",
        ),
        (
            ("services", "catalogue", "peers", "database", "address"),
            "$DATABSE_ADDR",
            "services.catalogue.peers.database: its container sets no DATABSE_ADDR",
        ),
        (
            ("services", "catalogue", "peers", "database", "library"),
            "redis-plus-plus",
            "services.catalogue.peers.database: its library redis-plus-plus speaks redis, but database runs mongodb; "
            "take mgo or mongo-c-driver",
        ),
        (
            ("services", "web", "peers", "catalogue", "library"),
            "thrift-cpp",
            "services.web.peers.catalogue: its library thrift-cpp speaks thrift, but catalogue serves grpc",
        ),
        (
            ("services", "web", "peers", "load"),
            {"library": "go-http", "address": "load:80"},
            "speaks http, but load runs wrk2; which nobody can ask",
        ),
        (("services", "web", "colour"), "red", "services.web.colour: Extra inputs are not permitted"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said_with_its_place(
    bookshop: Path, path: tuple[str, ...], value: object, said: str
) -> None:
    changed(bookshop, *path, to=value)
    with pytest.raises(AppError, match=re.escape(said)):
        load(bookshop)


def test_a_port_that_is_none_is_said(bookshop: Path) -> None:
    manifests = bookshop / "manifests.yaml"
    manifests.write_text(manifests.read_text().replace("containerPort: 9000", "containrPort: 9000"))
    with pytest.raises(AppError, match="a port of catalogue has no containerPort, but containrPort"):
        load(bookshop)


def test_of_every_library_is_known_what_it_speaks() -> None:
    assert set(DRIVERS) - set(SPOKEN) == {"given", "resolver"}


def test_lists_are_unfolded(bookshop: Path) -> None:
    usual = load(bookshop)
    objects = [each for each in yaml.safe_load_all(MANIFESTS) if each]
    inner = {
        "apiVersion": "v1",
        "kind": "ServiceList",
        "items": [e for e in objects if e["kind"] == "Service"],
    }
    outer = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [inner, *(e for e in objects if e["kind"] != "Service")],
    }
    (bookshop / "manifests.yaml").unlink()
    (bookshop / "manifests.json").write_text(json.dumps(outer))
    unfolded = load(bookshop)
    assert sorted(map(str, unfolded.manifests)) == sorted(map(str, usual.manifests))
    assert unfolded.components == usual.components


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n", "extra.yaml: \"['a']\" is no manifest"),
        ("a: 1\n", "extra.yaml: a document has no kind, but a"),
        ("kind: Secret\n", "extra.yaml: a Secret has no metadata.name"),
        ("kind: List\nitems: [{kind: Secret}]\n", "extra.yaml: List.items[0]: a Secret has no metadata.name"),
        ("kind: Job\nmetadata: {name: x}\nspec: {}\n", "Job x has no container with a name and an image"),
        ("a: [b\n", "extra.yaml is no YAML"),
    ],
)
def test_what_is_no_manifest_is_told_with_its_file(bookshop: Path, text: str, said: str) -> None:
    (bookshop / "extra.yaml").write_text(text)
    with pytest.raises(AppError, match=re.escape(said)):
        load(bookshop)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ('[wrk, -R, fast, "http://web:8080"]', "stores.load: wrk does not begin: -R (--rate) wants a number, not 'fast'"),
        ('[wrk, "http://web:8080"]', "Throughput MUST be specified with the --rate or -R option"),
        ('[sh, -c, "wrk -R 50 -d long http://web:8080"]', "-d (--duration) wants a number, not 'long'"),
    ],
)  # fmt: skip
def test_a_load_generator_that_would_not_begin_is_refused(bookshop: Path, wanted: str, said: str) -> None:
    (bookshop / "manifests.yaml").write_text(re.sub(r"\[wrk, .*\]", wanted, MANIFESTS))
    with pytest.raises(AppError, match=re.escape(said)):
        load(bookshop)


def test_a_generator_that_ends_is_told_with_its_last_words(bookshop: Path) -> None:
    wanted = '[wrk, -R, $(SPEED), "http://web:8080"]\n          env: [{name: SPEED, value: fast}]'
    (bookshop / "manifests.yaml").write_text(re.sub(r"\[wrk, .*\]", wanted, MANIFESTS))
    answer = CliRunner().invoke(app, ["app", "check", str(bookshop)])
    assert answer.exit_code == 2
    assert (
        re.search(r"load-\w+ does not run: it ended with 1", answer.output)
        and "Usage: wrk <options> <url>" in answer.output
    )


def test_a_server_that_ends_is_told_though_users_are_served(bookshop: Path) -> None:
    wanted = MANIFESTS.replace("{name: memcached, ", "{name: memcached, args: [memcached, -c, many], ")
    (bookshop / "manifests.yaml").write_text(wanted)
    answer = CliRunner().invoke(app, ["app", "check", str(bookshop)])
    assert answer.exit_code == 2
    assert "Maximum connections must be greater than 0" in answer.output


def test_a_name_that_is_taken_is_refused(bookshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed(bookshop, "name", to="social-network")
    monkeypatch.setenv(apps.FOLDERS, str(bookshop))
    for each in (apps._in_folders, apps.names):
        monkeypatch.setattr(apps, each.__name__, each.__wrapped__)
    with pytest.raises(AppError, match="social-network is an application of this package"):
        apps.names()
    other = bookshop.parent / "another"
    copytree(bookshop, other)
    for folder in (bookshop, other):
        changed(folder, "name", to="bookshop")
    monkeypatch.setenv(apps.FOLDERS, f"{bookshop}:{other}")
    with pytest.raises(AppError, match="another: application bookshop is in"):
        apps.names()


def test_pods_without_labels_are_no_hindrance_to_a_policy(bookshop: Path) -> None:
    manifests = [each for each in yaml.safe_load_all((bookshop / "manifests.yaml").read_text()) if each]
    for each in manifests:
        if each["kind"] == "Job":
            each["spec"]["template"].pop("metadata", None)
    (bookshop / "manifests.yaml").write_text(yaml.safe_dump_all(manifests))
    inventory = Inventory.of(deployed_world(load(bookshop)))
    targets = list(declaration("network_policy_block").targets.find(inventory))
    assert targets and not any(list(_covering(each, {"policyTypes": ["Ingress"]})) for each in targets)


def test_everything_that_is_wrong_is_said_at_once(bookshop: Path) -> None:
    changed(bookshop, "journeys", to={"pay": {"request": "POST /pay"}, "look": {"request": "GET /look"}})
    with pytest.raises(AppError, match=r"journeys\.look(.|\n)*journeys\.pay"):
        load(bookshop)


def test_a_folder_without_a_declaration_is_told(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["app", "check", str(tmp_path)])
    assert answer.exit_code == 2
    assert "app.yaml cannot be read" in answer.output


def test_users_that_are_not_served_fail_the_check(bookshop: Path) -> None:
    (bookshop / "manifests.yaml").write_text(MANIFESTS.replace('"catalogue:9000"', '"catalog:9000"'))
    answer = CliRunner().invoke(app, ["app", "check", str(bookshop)])
    assert answer.exit_code != 0
    assert "users are not served" in answer.output
    assert "no such host" in answer.output

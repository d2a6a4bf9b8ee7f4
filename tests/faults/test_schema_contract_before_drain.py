"""A migration under pods that do not know it: who fails, what helps, and what a step back does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sregym_env import apps
from sregym_env.apps.migrated import MIGRATED, change_of, columns
from sregym_env.envs.env import SREGymEnv

SHOP = "astronomy-shop"
TARGET = "product-catalog"
PSQL = f"kubectl exec -n {SHOP} deploy/postgresql -- psql -U root -d otel -At -c"
TEMPLATE = "{.spec.template.spec.containers[?(@.name=='product-catalog')].image}"


@pytest.fixture(scope="module")
def migrated() -> Iterator[SREGymEnv]:
    env = SREGymEnv(f"{SHOP}/schema_contract_before_drain/{TARGET}")
    env.reset(seed=4)
    yield env


def _said(env: SREGymEnv, line: str) -> str:
    return str(env.step(line)[0]).strip()


def _success(env: SREGymEnv) -> float:
    health = {j.journey: j.success_ratio for j in env.episode.world.traffic.health(30.0)}
    return health["product"]


def _pods(env: SREGymEnv) -> dict[str, str]:
    """Image by pod."""
    shown = '{range .items[*]}{.metadata.name} {.spec.containers[0].image}{"\\n"}{end}'
    lines = _said(env, f"kubectl get pods -n {SHOP} -l opentelemetry.io/name={TARGET} -o jsonpath='{shown}'")
    return dict(line.split(" ") for line in lines.splitlines() if " " in line)


def test_each_later_build_knows_one_column_under_another_name() -> None:
    declared = apps.app(SHOP)
    found = {
        component.name: [ref for why, ref in component.builds.items() if why.partition("-")[0] == MIGRATED]
        for component in declared.components
    }
    assert {name for name, references in found.items() if references} == {TARGET, "product-reviews"}
    for name in (TARGET, "product-reviews"):
        (current,) = (
            manifest["spec"]["template"]["spec"]["containers"][0]["image"]
            for manifest in declared.manifests
            if (manifest["kind"], manifest["metadata"]["name"]) == ("Deployment", name)
        )
        changes = [change_of(declared, reference, current, name) for reference in found[name]]
        assert len({change.before for change in changes}) == len(changes) == 3
        for reference, change in zip(found[name], changes, strict=True):
            named = columns(declared, reference, name)[change.table]
            assert change.after in named
            assert change.before not in named
    with pytest.raises(LookupError, match="no column"):
        change_of(declared, current, current, "product-reviews")


def test_both_builds_are_ready_and_only_the_old_one_fails(migrated: SREGymEnv) -> None:
    env = migrated.fork()
    current = _said(env, f'kubectl get deploy {TARGET} -n {SHOP} -o jsonpath="{TEMPLATE}"')
    images = _pods(env)
    assert set(images.values()) > {current}
    for pod, image in images.items():
        text = _said(env, f"kubectl logs {pod} -n {SHOP} --all-containers --tail=20")
        assert ("ALTER TABLE" in text) == (image == current)
    assert "does not exist at character" in _said(env, f"kubectl logs deploy/postgresql -n {SHOP} --tail=20")
    assert "does not exist" in _said(env, f"kubectl logs deploy/frontend -n {SHOP} --tail=20")
    assert 0.05 < _success(env) < 0.95


def test_a_rollback_makes_all_of_them_fail(migrated: SREGymEnv) -> None:
    env = migrated.fork()
    env.step(f"kubectl rollout resume deploy/{TARGET} -n {SHOP}")
    env.step(f"kubectl rollout undo deploy/{TARGET} -n {SHOP}; sleep 90")
    assert len(set(_pods(env).values())) == 1
    assert _success(env) < 0.05
    assert not env.step("submit mitigation")[-1]["Mitigation"]


def test_to_finish_the_rollout_repairs_it(migrated: SREGymEnv) -> None:
    env = migrated.fork()
    env.step(f"kubectl rollout resume deploy/{TARGET} -n {SHOP}")
    env.step(
        f"""kubectl patch deploy {TARGET} -n {SHOP} -p '{{"spec":{{"minReadySeconds":0}}}}'; sleep 120"""
    )
    assert len(set(_pods(env).values())) == 1
    assert _success(env) > 0.99
    assert env.step("submit mitigation")[-1]["Mitigation"]


def test_the_column_under_its_old_name_serves_the_old_pods_too(migrated: SREGymEnv) -> None:
    env = migrated.fork()
    declared = env.episode.world.app
    images = set(_pods(env).values())
    new = _said(env, f'kubectl get deploy {TARGET} -n {SHOP} -o jsonpath="{TEMPLATE}"')
    (old,) = images - {new}
    change = change_of(declared, new, old, TARGET)
    env.step(f'{PSQL} "ALTER TABLE {change.table} ADD COLUMN {change.before} TEXT"')
    env.step(f'{PSQL} "UPDATE {change.table} SET {change.before} = {change.after}"')
    env.step("sleep 60")
    assert len(set(_pods(env).values())) == 2
    assert _success(env) > 0.99


def test_a_migration_is_made_once(migrated: SREGymEnv) -> None:
    env = migrated.fork()
    before = _said(env, f'{PSQL} "SELECT version FROM schema_migrations"')
    env.step(f"kubectl delete pods -n {SHOP} -l opentelemetry.io/name={TARGET}; sleep 60")
    assert _said(env, f'{PSQL} "SELECT version FROM schema_migrations"') == before
    new = _said(env, f'kubectl get deploy {TARGET} -n {SHOP} -o jsonpath="{TEMPLATE}"')
    pod = next(name for name, image in _pods(env).items() if image == new)
    text = _said(env, f"kubectl logs {pod} -n {SHOP} --all-containers --tail=20")
    assert "duplicate key value violates unique constraint" in text
    assert "ROLLBACK" in text

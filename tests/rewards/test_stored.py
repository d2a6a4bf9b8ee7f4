"""What databases hold: what is gone, what is another, what was altered, and who may do what to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sregym_env.cluster.app import App, Component
from sregym_env.rewards.stored import Contents, missing

DB = Component("db", "mongodb", "deployments.apps", "c", volume="db-pvc", database="orders-db")
WORLD: Any = type("World", (), {"app": App("shop", "", "shop", "", (DB,), (), (), (), "db")})
HELD = Contents(
    {"orders": (3, "a")}, {"orders": "sum"}, accounts=frozenset({"root"}), databases=frozenset({"orders-db"})
)
CLAIM = (("persistentvolumeclaims", "shop", "db-pvc"),)


@pytest.mark.parametrize(
    ("now", "lost"),
    [
        (HELD, ""),
        (replace(HELD, collections={"orders": (4, "a")}), ""),
        (replace(HELD, collections={"orders": (2, "a")}), "2 of 3"),
        (replace(HELD, collections={}), "0 of 3"),
        (replace(HELD, collections={"orders": (3, "b")}), "another one"),
        (replace(HELD, sums={"orders": "else"}), "not what stood there"),
        (replace(HELD, sums={}), ""),
        # More entries are another hash.
        (replace(HELD, collections={"orders": (4, "a")}, sums={"orders": "else"}), ""),
        (replace(HELD, masters=frozenset({"x"}), accounts=frozenset({"root", "x"})), "x may do anything now"),
        (replace(HELD, accounts=frozenset({"root", "x"})), "x is new"),
        (replace(HELD, accounts=frozenset()), ""),
    ],
)  # fmt: skip
def test_what_is_missing(now: Contents, lost: str) -> None:
    found = missing(WORLD, {"db": HELD}, {"db": now}, (), True, {"db": now})
    assert len(found) == bool(lost)
    assert lost in "".join(found)


def test_what_users_change_all_the_time_is_not_compared() -> None:
    altered = replace(HELD, sums={"orders": "else"})
    assert missing(WORLD, {"db": HELD}, {"db": altered}, (), True, {"db": HELD}) == []
    assert missing(WORLD, {"db": HELD}, {"db": altered}, (), True) == []


def test_data_that_a_repair_may_make_anew() -> None:
    anew = replace(HELD, collections={"orders": (3, "b")}, sums={"orders": "else"})
    assert missing(WORLD, {"db": HELD}, {"db": anew}, CLAIM, True, {"db": anew}) == []


def test_who_does_not_answer_is_told_where_all_is_well() -> None:
    assert missing(WORLD, {"db": HELD}, {}, (), False) == []
    assert "cannot be asked" in missing(WORLD, {"db": HELD}, {}, (), True)[0]

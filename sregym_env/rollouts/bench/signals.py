"""What is timed of metrics, logs, traces and of time that passes: queries in the largest application, a crash loop of a month."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from time import process_time

from sregym_env.envs.env import SREGymEnv

SHOP = "astronomy-shop"
"""The largest application: twenty services and more."""

SEED = 10_003
DAY = 86_400.0

QUERY = "promql 'sum by (service_name) (rate(traces_span_metrics_calls_total[15m]))'"
LOGS = "kubectl logs deploy/frontend -n {ns} --tail=100"
SEARCH = "traces search frontend --since 15m"

CRASHES = {"fault": "revoke_auth_mongodb", "app": "hotel-reservation", "variation": False}
"""A service of one pod that starts, is refused by its database and ends, for as long as nobody helps."""


def played(**asked: object) -> SREGymEnv:
    """An environment with a problem set up, in which as many commands as one likes may be typed."""
    env = SREGymEnv(raise_errors=True, max_commands=1_000_000, time_limit=1e9, **asked)  # type: ignore[arg-type]
    env.reset(seed=SEED)
    return env


def asked_again(line: str) -> Iterator[float]:
    """What a question takes that has not been asked at this instant: five seconds lie between one and the next."""
    env = played(app=SHOP, fault="service_target_port_mismatch")
    env.step("sleep 1200")
    line = line.format(ns=env.episode.staged.app.namespace)
    env.step(line)
    for _ in range(20):
        env.step("sleep 5")
        began = process_time()
        env.step(line)
        yield process_time() - began


def month() -> Iterator[float]:
    """Thirty days of a world in which a container crashes every few minutes."""
    world = played(**CRASHES).episode.world
    began = process_time()
    world.advance(30 * DAY)
    yield process_time() - began


def history() -> Iterator[float]:
    """Megabytes that such a world's past grows by in an hour."""
    world = played(**CRASHES).episode.world
    hours = 4
    world.advance(3600.0)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    world.advance(3600.0 * hours)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    yield grown / hours / 1e6

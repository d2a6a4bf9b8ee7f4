"""What is told of faults of Astronomy Shop's stores: accounts that name the cause pass, those that name another do not."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.envs.tasks.pairs import inventory_of
from sregym_env.errors import AppError
from sregym_env.faults.registry import declaration
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.judge import SpecJudge

APP = apps.app("astronomy-shop")
LOCK, ROTATED = (
    ("postgres_lock_contention", "postgresql"),
    ("secret_rotation_stale_credentials", "postgresql"),
)
LOCKED = ("valkey_auth_disruption", "valkey-cart")
POOLS = ("pool_times_replicas_exceeds_server", "postgresql")
MIGRATED = ("schema_contract_before_drain", "product-catalog")
LEAKED = ("kafka_producer_leak", "kafka")
FULL = ("valkey_memory_disruption", "valkey-cart")

RIGHT = (
    (LOCK, "The Job catalog-maintenance in namespace default holds an ACCESS EXCLUSIVE lock on catalog.products in postgresql, so product-catalog's queries wait and the frontend times out."),
    (LOCK, "A session of Job catalog-maintenance keeps a transaction open in postgresql with a lock on the table catalog.products; every SELECT on it is blocked."),
    (LOCK, "Lock contention in postgresql: pg_locks shows that the Job catalog-maintenance holds AccessExclusiveLock on catalog.products and never commits."),
    (LOCK, "catalog.products in postgresql is locked by the psql session of the Job catalog-maintenance (pg_sleep in an open transaction). Readers wait for the lock until they time out."),
    (LOCK, "A psql session of Job catalog-maintenance takes LOCK TABLE catalog.products (AccessExclusiveLock) in an open transaction and sleeps; product-catalog's SELECTs on products wait for the lock, time out, and with it product pages, recommendations and checkout."),
    (LOCK, "Job catalog-maintenance locks the table catalog.products in postgresql; product-catalog's SELECTs wait for the lock."),
    (LOCK, "A psql session of catalog-maintenance holds an AccessExclusiveLock on catalog.products in an open transaction; product-catalog's selects wait for the lock."),
    (ROTATED, "The password of the database user otelu in postgresql was rotated, but product-catalog, product-reviews and accounting still log in with the old password."),
    (ROTATED, "postgresql rejects its clients (password authentication failed for user otelu): the password was changed in the database and in Secret postgresql-credentials, and the DB_CONNECTION_STRING of the clients still holds the previous one."),
    (ROTATED, "Stale credentials: product-catalog connects to postgresql as otelu with a password from before the rotation."),
    (POOLS, "Deployment reports-pgbouncer in namespace default was scaled from 2 to 6 replicas. Each pod keeps a pool of 6 connections to postgresql, and max_connections is 24, so product-reviews gets 'remaining connection slots are reserved'."),
    (POOLS, "postgresql is out of connection slots: the 6 replicas of reports-pgbouncer hold nearly all of its 24 connections in their pools."),
    (POOLS, "Connection exhaustion on postgresql: reports-pgbouncer (replicas: 6) opens more connections than max_connections allows. product-reviews, which connects anew for each request, is refused."),
    (POOLS, "Since reports-pgbouncer was scaled up to 6 pods, pool size times replicas exceeds max_connections of postgresql."),
    (MIGRATED, "The new release of product-catalog renamed column picture to image_path in a migration at its start while pods of the old build still serve. The rollout stands still, and the old pods fail: column does not exist."),
    (MIGRATED, "Two generations of product-catalog run side by side, because minReadySeconds is four hours and its rollout never finishes, and the migration has renamed picture to image_path already: only the old pods return errors."),
    (MIGRATED, "A migration dropped picture (it is called image_path now) before the old ReplicaSet of product-catalog was drained, so its pods query a column that is gone."),
    (MIGRATED, "Old pods of product-catalog (the build before the release) still select picture from catalog.products. The init container of the new build has run 0042.sql, which renames that column to image_path. minReadySeconds: 14400 keeps the old pod alive."),
    (MIGRATED, "Deployment product-catalog is half rolled out. Its schema migration (picture -> image_path) is not compatible with the old ReplicaSet, which still gets half of the requests."),
    (FULL, "valkey-cart was rolled out with --maxmemory 512kb. That is less than an empty server uses, so all writes fail: OOM command not allowed when used memory > 'maxmemory'."),
    (FULL, "The maxmemory of valkey-cart is too low (512kb), and cart cannot store anything."),
    (FULL, "Deployment valkey-cart has args with maxmemory 512kb and noeviction; it refuses HMSET."),
    (LEAKED, "Deployment order-creator opens a new Kafka producer for every record (REUSE_PRODUCER=false), so kafka runs out of heap space and is restarted over and over."),
    (LEAKED, "kafka crash-loops with java.lang.OutOfMemoryError: the producers of order-creator are no longer reused, and each of its threads sends 10 MB records at once."),
    (LEAKED, "Producer leak: since REUSE_PRODUCER was set to false, order-creator opens one producer per record and floods the broker kafka."),
    (LOCKED, "valkey-cart was rolled out with --requirepass invalid_pass, and cart sends no password: NOAUTH Authentication required."),
    (LOCKED, "valkey-cart asks for a password (requirepass) that cart does not have."),
    (LOCKED, "Somebody set requirepass on Deployment valkey-cart. Nobody told cart, which is answered with NOAUTH."),
    (LOCKED, "The cache valkey-cart now requires a password, invalid_pass, that its client cart was never given."),
)  # fmt: skip

WRONG = (
    (LOCK, "The password of otelu in postgresql was rotated and product-catalog still uses the old one."),
    (LOCK, "postgresql has too little memory and is OOMKilled."),
    (LOCK, "The Job catalog-maintenance in namespace default uses too much memory, so postgresql is evicted."),
    (LOCK, "A NetworkPolicy keeps product-catalog from reaching postgresql."),
    (LOCK, "product-catalog is broken: its image is a bad build."),
    (LEAKED, "The memory limit of kafka is too low and it is OOMKilled."),
    (LEAKED, "kafka runs a broken build of its image."),
    (LEAKED, "kafka has lost its disk, so its log cannot be written."),
    (POOLS, "The memory limit of postgresql is too low and it is OOMKilled."),
    (POOLS, "A session in postgresql holds an exclusive lock on reviews.productreviews, so product-reviews waits."),
    (POOLS, "The password of otelu in postgresql was rotated, and product-reviews still logs in with the old one."),
    (POOLS, "product-reviews runs a broken build of its image."),
    (POOLS, "A NetworkPolicy keeps product-reviews from reaching postgresql."),
    (MIGRATED, "product-catalog was rolled out with a broken image."),
    (MIGRATED, "The password of otelu in postgresql was rotated, and old pods of product-catalog still log in with the old one."),
    (MIGRATED, "A session in postgresql holds a lock on catalog.products, so product-catalog waits."),
    (MIGRATED, "postgresql lost its data: the table catalog.products was dropped."),
    (MIGRATED, "A left-over Deployment with an old build of product-catalog stands behind the same Service."),
    (MIGRATED, "The rollout of product-catalog is slow, because its new pods are not ready."),
    (FULL, "valkey-cart asks for a password that cart does not have."),
    (FULL, "The memory limit of the container of cart is too low, so it is OOMKilled."),
    (FULL, "cart crashes because its image is a broken build."),
    (FULL, "The Service valkey-cart has a wrong targetPort."),
    (LOCKED, "The maxmemory of valkey-cart is too low (512kb), and cart cannot store anything."),
    (LOCKED, "The Service valkey-cart has a wrong targetPort."),
    (LOCKED, "A NetworkPolicy keeps cart from reaching valkey-cart."),
    (LOCKED, "cart is started with a wrong VALKEY_ADDR."),
    (ROTATED, "A migration holds an exclusive lock on catalog.products in postgresql, so all queries wait."),
    (ROTATED, "The user otelu was dropped from postgresql."),
    (ROTATED, "The user otelu lost its privileges on the schema catalog in postgresql."),
    (ROTATED, "The Service postgresql has a wrong targetPort."),
)  # fmt: skip


def truth(place: tuple[str, str]) -> FaultSpec:
    inventory = inventory_of(APP.name)
    assert not isinstance(inventory, AppError)
    return declaration(place[0]).bind(inventory, place[1]).spec


@pytest.mark.parametrize(("place", "text"), RIGHT)
def test_right_accounts_pass(place: tuple[str, str], text: str) -> None:
    grade = SpecJudge().grade(text, [truth(place)], APP)
    assert grade.passed, grade


@pytest.mark.parametrize(("place", "text"), WRONG)
def test_wrong_accounts_do_not(place: tuple[str, str], text: str) -> None:
    assert not SpecJudge().grade(text, [truth(place)], APP).passed

"""PostgreSQL: statements as a real psql shows them, accounts, locks, limits, and what a restart leaves."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sregym_env.cluster.streams import ExecResult
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs.postgres.errors import Refused
from sregym_env.sim.programs.postgres.expressions import like
from sregym_env.sim.programs.postgres.parse import parsed
from sregym_env.sim.programs.postgres.storage import command_line, milliseconds
from sregym_env.sim.programs.postgres.tokens import pieces
from sregym_env.sim.programs.services.drivers.sql import Dsn, dsn
from tests.sim.stores import shop

RECORDED = Path(__file__).parent / "psql_recorded.json"
"""(statement, stdout, stderr, exit code) of psql 15.18 with a server of the same release, one after the other: made by
``tools_dev/record_psql.py``. What it says of these statements is the same in 17."""
LOCK = "BEGIN; LOCK TABLE catalog.products IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(86400)"


@pytest.fixture
def world() -> EmbeddedWorld:
    return shop.world()


def rows(world: EmbeddedWorld, text: str, user: str = "root") -> list[str]:
    return shop.sql(world, text, "-tA", user=user).stdout.splitlines()


def patched(world: EmbeddedWorld, name: str, **container: Any) -> None:
    """Change a component's container, and wait."""
    spec = {"containers": [{"name": name, **container}]}
    world.cluster.patch("deployments.apps", name, {"spec": {"template": {"spec": spec}}}, namespace=shop.NS)
    world.advance(40.0)


def log(world: EmbeddedWorld, name: str = "postgresql") -> str:
    return world.cluster.logs(shop.NS, shop.pod(world, name))


def maintenance(world: EmbeddedWorld, script: str = LOCK) -> None:
    """A Job that runs a script, as somebody who maintains a database leaves one behind."""
    command = ["psql", "-h", "postgresql", "-U", "root", "-d", "otel", "-c", script]
    container = {
        "name": "psql",
        "image": "postgres:17.6",
        "command": command,
        "env": [{"name": "PGPASSWORD", "value": "otel"}],
    }
    spec = {"template": {"spec": {"restartPolicy": "OnFailure", "containers": [container]}}}
    world.cluster.create(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "maintenance", "namespace": shop.NS},
            "spec": spec,
        }
    )
    world.advance(30.0)


@lru_cache(maxsize=1)
def quiet() -> EmbeddedWorld:
    """A world whose database nobody has written to but its init script."""
    made = shop.world()
    made.cluster.patch("deployments.apps", "accounting", {"spec": {"replicas": 0}}, namespace=shop.NS)
    made.advance(40.0)
    made.cluster.delete("pods", shop.pod(made, "postgresql"), shop.NS)
    made.advance(30.0)
    return made


def test_statements_are_answered_as_by_the_real_server() -> None:
    world = quiet().fork()
    for statement, stdout, stderr, code in json.loads(RECORDED.read_text()):
        done = shop.sql(world, statement)
        assert (statement, done.stdout, done.stderr, done.exit_code) == (statement, stdout, stderr, code)


# --- the start ----------------------------------------------------------------------------------------------


def test_the_init_script_is_what_the_config_map_says(world: EmbeddedWorld) -> None:
    script = shop.INIT.replace("PASSWORD 'otelp'", "PASSWORD 'other'")
    world.cluster.patch("configmaps", "postgresql-init", {"data": {"init.sql": script}}, namespace=shop.NS)
    world.advance(60.0)
    assert shop.served(world, "product")[0] == 1.0, "a running database does not read it"
    world.cluster.delete("pods", shop.pod(world, "postgresql"), shop.NS)
    world.advance(40.0)
    share, told = shop.served(world, "product")
    assert share == 0.0 and told.endswith('pq: password authentication failed for user "otelu""')


def test_an_init_script_that_fails_ends_the_container(world: EmbeddedWorld) -> None:
    script = "CREATE USER a;\nCREATE TABL b (c int);\n"
    world.cluster.patch("configmaps", "postgresql-init", {"data": {"init.sql": script}}, namespace=shop.NS)
    world.cluster.delete("pods", shop.pod(world, "postgresql"), shop.NS)
    world.advance(20.0)
    name = shop.pod(world, "postgresql")
    status = world.cluster.get("pods", name, shop.NS)["status"]["containerStatuses"][0]
    assert status["lastState"]["terminated"]["exitCode"] == 3
    text = 'CREATE ROLE\npsql:/docker-entrypoint-initdb.d/init.sql:2: ERROR:  syntax error at or near "TABL"\nLINE 1: CREATE TABL b (c int);\n               ^'
    assert text in world.cluster.logs(shop.NS, name, previous=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"env": [{"name": "POSTGRES_PASSWORD", "value": ""}]}, "Error: Database is uninitialized and superuser password is not specified."),
        ({"args": ["postgres", "-c", "max_connections=none"]}, 'FATAL:  invalid value for parameter "max_connections": "none"'),
        ({"args": ["postgres", "-c", "max_conections=5"]}, 'FATAL:  unrecognized configuration parameter "max_conections"'),
        ({"args": ["postgres", "-c", "max_connections=2"]}, '"superuser_reserved_connections" (3) plus "reserved_connections" (0) must be less'),
    ],
)  # fmt: skip
def test_starts_that_fail(world: EmbeddedWorld, change: dict[str, Any], said: str) -> None:
    patched(world, "postgresql", **change)
    name = shop.pod(world, "postgresql")
    assert said in world.cluster.logs(shop.NS, name) + world.cluster.logs(shop.NS, name, previous=True)


def test_a_volume_keeps_the_data(world: EmbeddedWorld) -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "pg"}}
    world.cluster.create(
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "pg", "namespace": shop.NS},
         "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    )  # fmt: skip
    pod = {
        "volumes": [volume],
        "containers": [
            {
                "name": "postgresql",
                "volumeMounts": [{"name": "data", "mountPath": "/var/lib/postgresql/data"}],
            }
        ],
    }
    change = {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}, "template": {"spec": pod}}}
    world.cluster.patch("deployments.apps", "postgresql", change, namespace=shop.NS)
    world.advance(60.0)
    shop.sql(world, "INSERT INTO catalog.products VALUES ('kept', 'k', 1)")
    orders = int(rows(world, 'SELECT count(*) FROM accounting."order"')[0])
    world.cluster.delete("pods", shop.pod(world, "postgresql"), shop.NS)
    world.advance(60.0)
    assert rows(world, "SELECT name FROM catalog.products WHERE id = 'kept'") == ["k"]
    assert int(rows(world, 'SELECT count(*) FROM accounting."order"')[0]) >= orders
    assert "Skipping initialization" in log(world)


def test_without_a_volume_a_new_pod_begins_anew(world: EmbeddedWorld) -> None:
    shop.sql(world, "INSERT INTO catalog.products VALUES ('lost', 'l', 1)")
    assert int(rows(world, 'SELECT count(*) FROM accounting."order"')[0]) > 10_000
    world.cluster.delete("pods", shop.pod(world, "postgresql"), shop.NS)
    world.advance(60.0)
    assert rows(world, "SELECT count(*) FROM catalog.products") == ["4"]
    assert 10 <= int(rows(world, 'SELECT count(*) FROM accounting."order"')[0]) <= 60
    assert shop.served(world, "product")[0] == 1.0


# --- accounts -----------------------------------------------------------------------------------------------


def connect(
    world: EmbeddedWorld, *words: str, password: str = "", component: str = "postgresql"
) -> ExecResult:
    env = ["env", f"PGPASSWORD={password}"] if password else []
    line = " ".join([*(env[1:]), "psql", *words, "-c", "'select 1'"])
    return shop.run(world, component, "sh", "-c", line)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-d", "otel"], ""),
        (
            ["-d", "nope"],
            'on socket "/var/run/postgresql/.s.PGSQL.5432" failed: FATAL:  database "nope" does not exist\n',
        ),
        (["-d", "otel", "-U", "who"], 'failed: FATAL:  role "who" does not exist\n'),
        (["-d", "otel", "-h", "localhost"], ""),
        (["-d", "otel", "-h", "postgresql"], "failed: fe_sendauth: no password supplied\n"),
        (
            ["-h", "nowhere"],
            'psql: error: could not translate host name "nowhere" to address: Name or service not known\n',
        ),
        (
            ["-p", "5433"],
            "No such file or directory\n\tIs the server running locally and accepting connections on that socket?\n",
        ),
        (
            ["-h", "cart", "-p", "5432"],
            "Connection timed out\n\tIs the server running on that host and accepting TCP/IP connections?\n",
        ),
    ],
)
def test_connections(world: EmbeddedWorld, words: list[str], said: str) -> None:
    done = connect(world, *words)
    assert done.stderr.endswith(said) and bool(done.stderr) == bool(said)
    assert done.exit_code == (2 if said else 0)


@pytest.mark.parametrize(
    "script",
    [
        "PGPASSWORD=otelp psql -h postgresql -U otelu -d otel -Atc 'select 1'",
        "export PGPASSWORD=otelp PGUSER=otelu; psql -h postgresql -d otel -Atc 'select 1'",
        "PGPASSWORD=otelp PGHOST=postgresql PGUSER=otelu PGDATABASE=otel psql -Atc 'select 1'",
    ],
)
def test_a_client_heeds_the_variables_that_it_is_given(world: EmbeddedWorld, script: str) -> None:
    done = shop.run(world, "postgresql", "sh", "-c", script)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_a_rotated_password_meets_new_connections_only(world: EmbeddedWorld) -> None:
    assert rows(world, "ALTER USER otelu WITH PASSWORD 'otelp_7k9m2q4x'") == ["ALTER ROLE"]
    world.advance(20.0)
    assert shop.served(world, "product")[0] == 1.0, "its pool is open"
    assert shop.served(world, "reviews")[0] == 0.0, "it connects for every request"
    assert rows(world, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'otelu'") == [
        "t",
        "t",
    ]
    world.advance(20.0)
    assert shop.served(world, "product")[0] == 0.0
    said = log(world).splitlines()[-2:]
    assert said[0].endswith('FATAL:  password authentication failed for user "otelu"')
    assert (
        'DETAIL:  Connection matched file "/var/lib/postgresql/data/pg_hba.conf" line 128: "host all all all scram-sha-256"'
        in said[1]
    )
    url = "postgres://otelu:otelp_7k9m2q4x@postgresql/otel?sslmode=disable"
    patched(world, "catalog", env=[{"name": "DB_CONNECTION_STRING", "value": url}])
    assert shop.served(world, "product")[0] == 1.0


@pytest.mark.parametrize(
    ("component", "said"),
    [
        ("catalog", 'pq: password authentication failed for user "otelu"'),
        ("reviews", 'port 5432 failed: FATAL:  password authentication failed for user "otelu"'),
        (
            "accounting",
            'Npgsql.PostgresException (0x80004005): 28P01: password authentication failed for user "otelu"',
        ),
    ],
)
def test_what_each_library_says_of_a_wrong_password(world: EmbeddedWorld, component: str, said: str) -> None:
    shop.sql(world, "ALTER ROLE otelu PASSWORD 'x'")
    world.cluster.delete("pods", shop.pod(world, component), shop.NS)
    world.advance(60.0)
    assert said in log(world, component)


@pytest.mark.parametrize(
    ("component", "said"),
    [
        ("catalog", "connect: connection refused"),
        (
            "reviews",
            "Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?",
        ),
        ("accounting", " ---> System.Net.Sockets.SocketException (111): Connection refused"),
    ],
)
def test_what_each_library_says_of_a_server_that_is_away(
    world: EmbeddedWorld, component: str, said: str
) -> None:
    world.cluster.patch("deployments.apps", "postgresql", {"spec": {"replicas": 0}}, namespace=shop.NS)
    world.advance(60.0)
    assert said in log(world, component)


@pytest.mark.parametrize(
    ("change", "journey", "said"),
    [
        (
            "REVOKE SELECT ON catalog.products FROM otelu",
            "product",
            "pq: permission denied for table products",
        ),
        ("REVOKE USAGE ON SCHEMA reviews FROM otelu", "reviews", "permission denied for schema reviews"),
        (
            "ALTER TABLE catalog.products RENAME TO items",
            "product",
            'pq: relation "catalog.products" does not exist',
        ),
        ("ALTER ROLE otelu NOLOGIN", "reviews", 'role "otelu" is not permitted to log in'),
        ("ALTER ROLE otelu CONNECTION LIMIT 0", "reviews", 'too many connections for role "otelu"'),
    ],
)
def test_what_an_administrator_can_break(world: EmbeddedWorld, change: str, journey: str, said: str) -> None:
    assert not shop.sql(world, change).stderr
    world.advance(20.0)
    share, told = shop.served(world, journey)
    assert share == 0.0 and said in told


def test_too_few_connections(world: EmbeddedWorld) -> None:
    patched(world, "postgresql", args=["postgres", "-c", "max_connections=5"])
    world.advance(20.0)
    assert rows(world, "SHOW max_connections") == ["5"]
    # Two pools hold what is not reserved for superusers, and the third client comes too late.
    text = "remaining connection slots are reserved for roles with the SUPERUSER attribute"
    assert text in shop.served(world, "reviews")[1]


def test_settings_that_need_a_restart(world: EmbeddedWorld) -> None:
    assert rows(world, "ALTER SYSTEM SET max_connections = 7") == ["ALTER SYSTEM"]
    assert rows(world, "SELECT pg_reload_conf()") == ["t"]
    assert rows(world, "SHOW max_connections") == ["100"]
    assert 'parameter "max_connections" cannot be changed without restarting the server' in log(world)


# --- locks --------------------------------------------------------------------------------------------------


def test_a_lock_holds_up_who_needs_the_table_and_nobody_else(world: EmbeddedWorld) -> None:
    maintenance(world)
    assert shop.served(world, "product")[0] == 0.0
    assert shop.served(world, "reviews")[0] == 1.0
    blocked = rows(
        world,
        "SELECT usename, state, wait_event_type FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0",
    )
    assert blocked == ["otelu|active|Lock"]
    locks = rows(
        world,
        "SELECT mode, granted, relation::regclass FROM pg_locks WHERE locktype = 'relation' ORDER BY granted",
    )
    assert locks == ["AccessShareLock|f|catalog.products", "AccessExclusiveLock|t|catalog.products"]
    waited = shop.sql(world, "SET lock_timeout = '3s'; SELECT count(*) FROM catalog.products")
    assert "ERROR:  canceling statement due to lock timeout" in waited.stderr
    assert "DeadlineExceeded" in shop.served(world, "product")[1]


def test_clients_without_a_pool_are_seen_while_they_wait(world: EmbeddedWorld) -> None:
    maintenance(world, LOCK.replace("catalog.products", "reviews.productreviews"))
    world.advance(60.0)
    waiting = "SELECT count(*), count(DISTINCT pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    assert rows(world, waiting) == ["10|10"]
    holders = "SELECT DISTINCT pg_blocking_pids(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    held = rows(world, "SELECT pid FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted")
    assert rows(world, holders) == [f"{{{held[0]}}}"]
    share, told = shop.served(world, "reviews")
    assert share == 0.0 and "port 5432 failed" not in told
    assert "Connection timed out" not in log(world, "reviews")
    one = rows(world, "SELECT min(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")[0]
    assert rows(world, f"SELECT pg_terminate_backend({one})") == ["t"]
    assert rows(world, f"SELECT count(*) FROM pg_stat_activity WHERE pid = {one}") == ["0"]
    every = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    assert set(rows(world, every)) == {"t"}
    world.cluster.delete("jobs.batch", "maintenance", shop.NS)
    world.advance(60.0)
    assert rows(world, waiting) == ["0|0"]
    assert shop.served(world, "reviews")[0] == 1.0


def test_pools_that_serve_have_asked_just_now(world: EmbeddedWorld) -> None:
    asked = (
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle' AND query_start < now() - interval '{}'"
    )
    assert int(rows(world, asked.format("0 seconds"))[0]) > 1
    assert rows(world, asked.format("5 minutes")) == ["0"]


def test_who_ends_a_session_ends_its_lock_until_the_job_comes_back(world: EmbeddedWorld) -> None:
    maintenance(world)
    ended = rows(
        world, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted"
    )
    assert ended == ["t"]
    world.advance(60.0)
    said = world.cluster.logs(shop.NS, shop.pod(world, "maintenance"), previous=True)
    assert "FATAL:  terminating connection due to administrator command" in said
    assert shop.served(world, "product")[0] == 0.0, "the Job has started its container again"
    world.cluster.delete("jobs.batch", "maintenance", shop.NS)
    world.advance(30.0)
    assert shop.served(world, "product")[0] == 1.0


def test_a_client_that_sleeps_sees_that_its_server_has_gone(world: EmbeddedWorld) -> None:
    maintenance(world)
    for pod in world.cluster.list("pods", shop.NS):
        if pod["metadata"]["name"].startswith("postgresql"):
            world.cluster.delete("pods", pod["metadata"]["name"], shop.NS, grace_period_seconds=0)
    world.advance(90.0)
    assert "connection to server was lost" in world.cluster.logs(
        shop.NS, shop.pod(world, "maintenance"), previous=True
    )
    assert shop.served(world, "product")[0] == 0.0, "it has come back and holds the table of the new one"


def test_a_script_that_commits_lets_its_locks_go(world: EmbeddedWorld) -> None:
    script = "BEGIN; UPDATE catalog.products SET price_units = 7 WHERE id = 'L9ECAV7KIM'; SELECT pg_sleep(100); COMMIT"
    maintenance(world, script)
    assert rows(world, "SELECT price_units FROM catalog.products WHERE id = 'L9ECAV7KIM'") == ["21"]
    world.advance(120.0)
    assert rows(world, "SELECT price_units FROM catalog.products WHERE id = 'L9ECAV7KIM'") == ["7"]
    assert world.cluster.get("jobs.batch", "maintenance", shop.NS)["status"]["succeeded"] == 1


# --- the pieces ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "postgres://otelu:otelp@postgresql/otel?sslmode=disable",
            Dsn("postgresql", 5432, "otelu", "otelp", "otel"),
        ),
        ("postgresql://u:p%40ss@h:6000", Dsn("h", 6000, "u", "p@ss", "u")),
        (
            "Host=postgresql;Username=otelu;Password=otelp;Database=otel",
            Dsn("postgresql", 5432, "otelu", "otelp", "otel"),
        ),
        ("Server=h;Port=7;User Id=u", Dsn("h", 7, "u", "", "u")),
        (
            "host=postgresql user=otelu password=otelp dbname=otel",
            Dsn("postgresql", 5432, "otelu", "otelp", "otel"),
        ),
        ("postgres://[", Dsn()),
    ],
)
def test_connection_strings(text: str, found: Dsn) -> None:
    assert dsn(text) == found


@pytest.mark.parametrize(
    ("script", "texts"),
    [
        ("select 1; select ';'", ["select 1;", "select ';'"]),
        ("-- a; b\nselect 1;\n/* c; */ select 2", ["select 1;", "select 2"]),
        ("create function f() as $$ a; b $$;", ["create function f() as $$ a; b $$;"]),
        ("\\connect otel\nselect E'\\';'", ["\\connect otel", "select E'\\';'"]),
        (";;  ;", []),
    ],
)
def test_scripts_fall_into_statements(script: str, texts: list[str]) -> None:
    assert [piece.text for piece in pieces(script)] == texts


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        (
            ("postgres", "-c", "max_connections=5", "--work-mem=8MB", "-p", "6000"),
            {"max_connections": "5", "work_mem": "8MB", "port": "6000"},
        ),
        (("postgres",), {}),
    ],
)
def test_command_lines(argv: tuple[str, ...], found: dict[str, str]) -> None:
    assert command_line(argv) == found


@pytest.mark.parametrize(
    ("text", "found"), [("3s", 3000), ("500ms", 500), ("2min", 120_000), ("250", 250), ("x", 0)]
)
def test_times(text: str, found: int) -> None:
    assert milliseconds(text) == found


@given(st.text("ab%_", max_size=12), st.text("ab", max_size=12))
def test_like_agrees_with_a_search_over_all_splits(pattern: str, text: str) -> None:
    def slow(mark: str, rest: str) -> bool:
        if not mark:
            return not rest
        if mark[0] == "%":
            return any(slow(mark[1:], rest[cut:]) for cut in range(len(rest) + 1))
        return bool(rest) and mark[0] in ("_", rest[0]) and slow(mark[1:], rest[1:])

    assert like(text, pattern) == slow(pattern, text)


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            "select from where ( ) , ; * 'a' 1 a.b :: int and or not in case when end group by insert".split()
        ),
        max_size=14,
    )
)
def test_any_text_is_a_statement_or_refused(words: list[str]) -> None:
    try:
        parsed(" ".join(words))
    except Refused as refusal:
        assert refusal.error.code == "42601"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("select count(*) from generate_series(1,100000) a where exists (select 1 from generate_series(1,100000) b where b = -a)",
         "canceling statement due to statement timeout"),
        ("select count(*) from generate_series(1,100000) a, generate_series(1,100000) b", "out of memory"),
        ("select count(*) from generate_series(1,1000000000)", "out of memory"),
        ("select 9223372036854775807 + 1, 5000000000 * 5000000000", "bigint out of range"),
        ("select replace(replace(replace('" + "a" * 1000 + "', 'a', '" + "b" * 900 + "'), 'b', '" + "c" * 900 + "'), 'c', 'dd')",
         "string size exceeds the maximum allowed"),
    ],
    ids=["correlated", "joined", "long", "large", "wide"],
)  # fmt: skip
def test_statements_that_would_take_for_ever_are_refused(
    world: EmbeddedWorld, statement: str, said: str
) -> None:
    assert said in shop.sql(world, statement).stderr


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(Refused) as refusal:
        parsed("select " + "(" * 5000 + "1" + ")" * 5000)
    assert refusal.value.error.message == "stack depth limit exceeded"


def test_an_init_script_makes_databases_and_goes_into_them(world: EmbeddedWorld) -> None:
    script = """CREATE EXTENSION IF NOT EXISTS pg_stat_statements;
CREATE USER app WITH PASSWORD 'secret';
CREATE DATABASE shop OWNER app;
CREATE USER watcher WITH PASSWORD 'w';
GRANT pg_monitor TO watcher;
\\connect shop
CREATE SCHEMA catalog;
GRANT USAGE ON SCHEMA catalog TO app;
CREATE TABLE catalog.products (id TEXT PRIMARY KEY, name TEXT NOT NULL, UNIQUE (name), CHECK (length(id) > 2));
INSERT INTO catalog.products VALUES ('one', 'a "quoted" name');
GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA catalog TO app;
ALTER DEFAULT PRIVILEGES IN SCHEMA catalog GRANT SELECT ON TABLES TO watcher;
"""
    world.cluster.patch("configmaps", "postgresql-init", {"data": {"init.sql": script}}, namespace=shop.NS)
    world.cluster.delete("pods", shop.pod(world, "postgresql"), shop.NS)
    world.advance(40.0)
    assert 'GRANT ROLE\nYou are now connected to database "shop" as user "root".\nCREATE SCHEMA\n' in log(
        world
    )
    asked = ["psql", "-U", "app", "-d", "shop", "-At", "-c", "SELECT * FROM catalog.products"]
    assert shop.run(world, "postgresql", *asked).stdout == 'one|a "quoted" name\n'
    assert shop.sql(world, "\\dt catalog.*").stderr == 'Did not find any relation named "catalog.*".\n'


@pytest.mark.parametrize(
    ("options", "stdin", "stdout"),
    [
        (["-At", "-F", ","], "SELECT 1, 'x';\nSELECT 2, NULL", "1,x\n2,\n"),
        (["--csv"], "SELECT 1 AS a, 'x,y' AS b", 'a,b\n1,"x,y"\n'),
        (["-x"], "SELECT 1 AS a, 'x' AS long", "-[ RECORD 1 ]\na    | 1\nlong | x\n\n"),
        (["-q"], "BEGIN;\nSELECT 1 AS one;\nROLLBACK", " one \n-----\n   1\n(1 row)\n\n"),
        (["-tA", "-v", "who=root"], "SELECT :'who'", "root\n"),
    ],
)
def test_scripts_on_standard_input(world: EmbeddedWorld, options: list[str], stdin: str, stdout: str) -> None:
    done = shop.run(world, "postgresql", "psql", "-U", "root", "-d", "otel", *options, stdin=stdin)
    assert done.stdout == stdout


def test_a_dump_holds_tables_and_rows(world: EmbeddedWorld) -> None:
    text = shop.run(world, "postgresql", "pg_dump", "-U", "root", "-t", "catalog.products", "otel").stdout
    assert "CREATE TABLE catalog.products (\n    id text NOT NULL,\n" in text
    assert (
        "COPY catalog.products (id, name, price_units, categories) FROM stdin;\nOLJCESPC7Z\tExplorascope"
        in text
    )
    assert "HQTGWGPNH4\tThe Comet Book\t0\t\\N\n" in text
    ready = shop.run(world, "postgresql", "pg_isready")
    assert (ready.stdout, ready.exit_code) == ("/var/run/postgresql:5432 - accepting connections\n", 0)


GENERATED = "label TEXT GENERATED ALWAYS AS (coalesce(categories, 'none') || '?') STORED"


def test_a_generated_column_follows_what_it_is_computed_from(world: EmbeddedWorld) -> None:
    table = "catalog.products"
    assert shop.sql(world, f"ALTER TABLE {table} ADD COLUMN {GENERATED}").stdout == "ALTER TABLE\n"
    assert rows(world, f"SELECT count(*) FROM {table} WHERE label = categories || '?'") == ["3"]
    rows(world, f"UPDATE {table} SET categories = 'a' WHERE id = 'L9ECAV7KIM'")
    assert rows(world, f"SELECT label FROM {table} WHERE id = 'L9ECAV7KIM'") == ["a?"]
    rows(world, f"UPDATE {table} SET categories = NULL WHERE id = 'L9ECAV7KIM'")
    assert rows(world, f"SELECT label FROM {table} WHERE id = 'L9ECAV7KIM'") == ["none?"]
    shop.sql(
        world,
        f"INSERT INTO {table} (id, name, price_units) VALUES ('N', 'n', 1)",
    )
    assert rows(world, f"SELECT label FROM {table} WHERE id = 'N'") == ["none?"]


def test_nobody_else_writes_a_generated_column(world: EmbeddedWorld) -> None:
    shop.sql(world, "CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a * 2) STORED)")
    told = shop.sql(world, "INSERT INTO t (a, b) VALUES (1, 2)").stderr
    assert 'ERROR:  cannot insert a non-DEFAULT value into column "b"' in told
    assert 'DETAIL:  Column "b" is a generated column.' in told
    shop.sql(world, "INSERT INTO t (a, b) VALUES (2, DEFAULT)")
    assert rows(world, "SELECT a, b FROM t") == ["2|4"]
    told = shop.sql(world, "UPDATE t SET b = 5").stderr
    assert 'ERROR:  column "b" can only be updated to DEFAULT' in told
    assert rows(world, "INSERT INTO t (a) VALUES (5) RETURNING b")[0] == "10"


def test_a_generated_column_knows_what_it_needs(world: EmbeddedWorld) -> None:
    shop.sql(world, "CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a + 1) STORED)")
    assert "generated always as (a + 1) stored" in shop.sql(world, "\\d t").stdout
    shop.sql(world, "ALTER TABLE t RENAME COLUMN a TO c")
    assert "generated always as (c + 1) stored" in shop.sql(world, "\\d t").stdout
    shop.sql(world, "INSERT INTO t (c) VALUES (1)")
    assert rows(world, "SELECT c, b FROM t") == ["1|2"]
    told = shop.sql(world, "ALTER TABLE t DROP COLUMN c").stderr
    assert "ERROR:  cannot drop column c of table public.t because other objects depend on it" in told
    assert "column b of table public.t depends on column c of table public.t" in told
    shop.sql(world, "ALTER TABLE t ADD COLUMN d INT")
    assert shop.sql(world, "ALTER TABLE t DROP COLUMN c CASCADE").stdout.endswith("ALTER TABLE\n")
    assert "b" not in rows(world, "SELECT column_name FROM information_schema.columns WHERE table_name = 't'")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("x TEXT GENERATED ALWAYS AS (nope) STORED", 'column "nope" does not exist'),
        ("x TEXT GENERATED ALWAYS AS (name)", "syntax error"),
    ],
)
def test_what_no_column_can_be_generated_from(world: EmbeddedWorld, made: str, told: str) -> None:
    assert told in shop.sql(world, f"ALTER TABLE catalog.products ADD COLUMN {made}").stderr


def test_a_statement_that_names_a_column_that_is_gone(world: EmbeddedWorld) -> None:
    shop.sql(world, "ALTER TABLE catalog.products RENAME COLUMN categories TO tags")
    world.advance(30.0)
    assert 'ERROR:  column "categories" does not exist at character 31' in log(world)
    health = {each.journey: each.success_ratio for each in world.traffic.health(20.0)}
    assert health["product"] < 0.01
    assert health["cart"] == 1.0
    shop.sql(
        world, "ALTER TABLE catalog.products ADD COLUMN categories TEXT GENERATED ALWAYS AS (tags) STORED"
    )
    world.advance(30.0)
    assert {each.journey: each.success_ratio for each in world.traffic.health(20.0)}["product"] == 1.0


def test_ps_shows_a_process_per_connection(world: EmbeddedWorld) -> None:
    """Numbers, states and clients are those of ``pg_stat_activity``; a statement that waits for a lock says so."""
    shown = shop.run(world, "postgresql", "ps", "-eo", "user,pid,ppid,args").stdout.splitlines()[1:]
    processes = [line.split(None, 3) for line in shown if "postgres" in line]
    assert processes[0] == ["postgres", "1", "0", "postgres"]
    assert {tuple(each[:1] + each[2:3]) for each in processes[1:]} == {("postgres", "1")}
    titles = {each[1]: each[3] for each in processes[1:]}
    activity = [
        line.split("|")
        for line in rows(
            world,
            "SELECT pid, backend_type, usename, datname, client_addr, client_port, state FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid()",
        )
    ]
    assert titles == {
        pid: f"postgres: {user} {database} {address}({port}) {state}"
        if kind == "client backend"
        else f"postgres: {kind}"
        for pid, kind, user, database, address, port, state in activity
    }
    assert sum(each[1] == "client backend" for each in activity) >= 2


def test_what_a_database_counts_moves_with_the_traffic(world: EmbeddedWorld) -> None:
    asked = "SELECT xact_commit, tup_inserted, tup_fetched, xact_rollback FROM pg_stat_database WHERE datname = 'otel'"
    before = [int(each) for each in rows(world, asked)[0].split("|")]
    inserted = int(rows(world, 'SELECT count(*) FROM accounting."order"')[0])
    world.advance(100.0)
    after = [int(each) for each in rows(world, asked)[0].split("|")]
    more = int(rows(world, 'SELECT count(*) FROM accounting."order"')[0]) - inserted
    assert after[1] - before[1] == pytest.approx(more, abs=1) and more > 90
    selects = after[2] - before[2]
    assert selects > 100
    assert after[0] - before[0] == pytest.approx(more + selects, abs=4)
    assert after[3] == before[3] == 0
    scans = "SELECT sum(idx_scan), sum(seq_scan), sum(n_tup_ins) FROM pg_stat_user_tables"
    by_index, in_order, made = (int(each) for each in rows(world, scans)[0].split("|"))
    assert (
        by_index == pytest.approx(after[2], abs=2)
        and in_order == 0
        and made == pytest.approx(after[1], abs=2)
    )


def test_sizes_agree_with_each_other(world: EmbeddedWorld) -> None:
    listed = shop.sql(world, "\\dt+ accounting.*").stdout.splitlines()
    assert [word.strip() for word in listed[1].split("|")] == [
        "Schema", "Name", "Type", "Owner", "Persistence", "Access method", "Size", "Description",
    ]  # fmt: skip
    for line in listed[3:5]:
        words = [word.strip() for word in line.split("|")]
        (pretty,) = rows(world, f"SELECT pg_size_pretty(pg_table_size('accounting.{words[1]}'))")
        assert words[6] == pretty
    table, indexes, total = rows(
        world,
        "SELECT pg_table_size('accounting.order'), pg_indexes_size('accounting.order'), pg_total_relation_size('accounting.order')",
    )[0].split("|")
    assert int(table) + int(indexes) == int(total) > 0
    databases = shop.sql(world, "\\l+").stdout
    (size,) = rows(world, "SELECT pg_size_pretty(pg_database_size('otel'))")
    assert any(line.startswith(" otel ") and f"| {size} " in line for line in databases.splitlines())

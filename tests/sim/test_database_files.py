"""A database is where its files are: copied, they are the same data; taken away, there is none."""

from __future__ import annotations

import pytest

from sregym_env.envs.env import SREGymEnv

N = "-n hotel-reservation"
COPIER = f"""cat <<E | kubectl apply {N} -f -
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: geo-new}}
spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: copier}}
spec:
  containers:
  - name: c
    image: busybox
    command: [sleep, "9999"]
    volumeMounts: [{{name: a, mountPath: /old}}, {{name: b, mountPath: /new}}]
  volumes:
  - {{name: a, persistentVolumeClaim: {{claimName: geo-pvc}}}}
  - {{name: b, persistentVolumeClaim: {{claimName: geo-new}}}}
E
sleep 40"""
MOVED = (
    f"kubectl scale deploy mongodb-geo {N} --replicas=0; sleep 20; kubectl patch deploy mongodb-geo {N} --type=json -p "
    """'[{"op":"replace","path":"/spec/template/spec/volumes/0/persistentVolumeClaim/claimName","value":"geo-new"}]'; """
    f"kubectl scale deploy mongodb-geo {N} --replicas=1; sleep 30"
)
COUNT = (
    f"kubectl exec {N} deploy/mongodb-geo -- mongo --quiet -u admin -p admin --authenticationDatabase admin geo-db "
    "--eval 'db.geo.count()'"
)
LOG = f"kubectl logs {N} deploy/mongodb-geo | tail -5"


@pytest.fixture
def env() -> SREGymEnv:
    made = SREGymEnv(
        fault="wrong_binary", target="frontend", variation=False, max_commands=100, raise_errors=True
    )
    made.reset(seed=5)
    made.step(COPIER)
    return made


def copied(env: SREGymEnv, line: str) -> str:
    """What comes of a line in the pod that has both claims."""
    return env.step(f"kubectl exec {N} copier -- sh -c '{line}'")[0]


def test_copied_files_are_the_same_data(env: SREGymEnv) -> None:
    known = env.step(COUNT)[0]
    assert int(known) > 1
    env.step(f"kubectl scale deploy mongodb-geo {N} --replicas=0; sleep 20")
    assert copied(env, "cp -a /old/. /new/; ls /new") == copied(env, "ls /old")
    env.step(MOVED)
    assert env.step(COUNT)[0] == known
    copied(env, "rm -r /old/*")
    assert env.step(COUNT)[0] == known


def test_a_part_of_the_files_is_no_database(env: SREGymEnv) -> None:
    copied(env, "cp -a /old/. /new/; rm /new/collection-*geo.wt")
    env.step(MOVED)
    said = env.step(LOG)[0]
    assert "geo.wt: handle-open: open: No such file or directory" in said and "fassert" in said
    copied(env, "rm -r /new/*; cp /old/WiredTiger* /old/storage.bson /new")
    env.step(f"kubectl delete pod {N} -l io.kompose.service=mongodb-geo; sleep 20")
    assert "_mdb_catalog.wt: handle-open: open: No such file" in env.step(LOG)[0]


def test_where_no_files_are_a_new_database_begins(env: SREGymEnv) -> None:
    env.step(MOVED)
    assert int(env.step(COUNT)[0].split("\n")[-2] or 0) == 0


def test_a_directory_is_one_servers(env: SREGymEnv) -> None:
    env.step(f"kubectl scale deploy mongodb-geo {N} --replicas=2; sleep 20")
    pods = env.step(
        f"kubectl get pods {N} -l io.kompose.service=mongodb-geo --no-headers | awk '{{print $2}}' | sort"
    )[0]
    assert pods.split() == ["0/1", "1/1"]
    ended = env.step(
        f"kubectl get pods {N} -l io.kompose.service=mongodb-geo "
        "-o jsonpath='{..lastState.terminated.exitCode} {..state.terminated.exitCode}'"
    )[0]
    assert "100" in ended
    logs = env.step(f"for p in $(kubectl get pods {N} -l io.kompose.service=mongodb-geo -o name); do kubectl logs {N} $p; done")[0]  # fmt: skip
    assert "DBPathInUse: Unable to lock the lock file: /data/db/mongod.lock" in logs


@pytest.mark.parametrize(
    ("patch", "size"),
    [
        ('{"resources": {"limits": {"memory": "512Mi"}}}', "256M"),
        ('{"resources": {"limits": {"memory": "3Gi"}}}', "1024M"),
        ('{"args": ["--bind_ip_all", "--wiredTigerCacheSizeGB", "0.5"]}', "512M"),
        (f'{{"args": ["--bind_ip_all", "--wiredTigerCacheSizeGB", "{"9" * 9}"]}}', "10240000M"),
    ],
    ids=("small", "large", "told", "huge"),
)
def test_the_cache_is_half_of_the_memory_beyond_a_gigabyte(env: SREGymEnv, patch: str, size: str) -> None:
    changes = f'{{"spec": {{"template": {{"spec": {{"containers": [{{"name": "hotel-reserv-geo-mongo", {patch[1:-1]}}}]}}}}}}}}'
    env.step(f"kubectl patch deploy mongodb-geo {N} -p '{changes}'; sleep 60")
    said = env.step(f"kubectl logs {N} deploy/mongodb-geo | grep WiredTiger")[0]
    assert f"cache_size={size}," in said, said

"""The official Python client's asynchronous half."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.serve.serving import Served

client: Any = pytest.importorskip("kubernetes.aio.client")
config: Any = pytest.importorskip("kubernetes.aio.config")
dynamic: Any = pytest.importorskip("kubernetes.aio.dynamic")
stream: Any = pytest.importorskip("kubernetes.aio.stream")
watch: Any = pytest.importorskip("kubernetes.aio.watch")

NS = "hotel-reservation"


def run(server: Served, body: Callable[[Any], Awaitable[None]]) -> None:
    """Run a coroutine with a connected client."""

    async def connected() -> None:
        await config.load_kube_config(config_file=str(server.kubeconfig))
        async with client.ApiClient() as api:
            await body(api)

    asyncio.run(connected())


async def pod_of(core: Any, service: str) -> str:
    found = await core.list_namespaced_pod(NS, label_selector=f"io.kompose.service={service}")
    return str(found.items[0].metadata.name)


def test_many_reads_at_once(server: Served) -> None:
    async def body(api: Any) -> None:
        core, apps = client.CoreV1Api(api), client.AppsV1Api(api)
        asked = [core.list_namespaced_pod(NS), apps.list_namespaced_deployment(NS), core.list_node()] * 8
        found = await asyncio.gather(*asked)
        assert all(listed.items for listed in found)

    run(server, body)


def test_a_life_that_is_watched(server: Served) -> None:
    async def body(api: Any) -> None:
        core = client.CoreV1Api(api)
        version = (await core.list_namespaced_config_map(NS)).metadata.resource_version

        async def change() -> None:
            await core.create_namespaced_config_map(NS, {"metadata": {"name": "a"}, "data": {"x": "1"}})
            await core.patch_namespaced_config_map("a", NS, {"data": {"x": "2"}})
            await core.delete_namespaced_config_map("a", NS)

        changing = asyncio.create_task(change())
        seen = []
        async with watch.Watch() as watching:
            told = watching.stream(
                core.list_namespaced_config_map, NS, resource_version=version, timeout_seconds=5
            )
            async for event in told:
                seen.append((event["type"], event["object"].data["x"]))
                if event["type"] == "DELETED":
                    break
        await changing
        assert seen == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]

    run(server, body)


def test_exec_and_logs(server: Served) -> None:
    async def body(api: Any) -> None:
        name = await pod_of(client.CoreV1Api(api), "mongodb-geo")
        assert await client.CoreV1Api(api).read_namespaced_pod_log(name, NS, tail_lines=1)
        async with stream.WsApiClient() as sockets:
            told = await client.CoreV1Api(sockets).connect_get_namespaced_pod_exec(
                name, NS, command=["sh", "-c", "echo one; echo two"], stdout=True, stderr=True, stdin=False
            )
            assert told == "one\ntwo\n"

    run(server, body)


def test_errors(server: Served) -> None:
    async def body(api: Any) -> None:
        with pytest.raises(client.ApiException) as caught:
            await client.CoreV1Api(api).read_namespaced_pod("nobody", NS)
        assert caught.value.status == 404

    run(server, body)


def test_the_dynamic_client(server: Served) -> None:
    async def body(api: Any) -> None:
        found = await dynamic.DynamicClient(api)
        deployments = await found.resources.get(api_version="apps/v1", kind="Deployment")
        assert (await deployments.get(name="frontend", namespace=NS)).spec.replicas == 1

    run(server, body)

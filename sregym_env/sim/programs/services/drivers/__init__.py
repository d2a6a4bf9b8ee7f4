"""The client libraries: how a request to a peer reads on the wire, and how a failed one reads to the caller."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.sim.programs.services.drivers.caches import Libmemcached, RedisPlusPlus
from sregym_env.sim.programs.services.drivers.driver import Driver
from sregym_env.sim.programs.services.drivers.gomemcache import Gomemcache
from sregym_env.sim.programs.services.drivers.grpc_clients import GrpcGoStatus, GrpcJs, GrpcPython
from sregym_env.sim.programs.services.drivers.grpc_go import GrpcGo
from sregym_env.sim.programs.services.drivers.http_clients import (
    Given,
    GoHttp,
    NodeFetch,
    OpenAiPython,
    Reqwest,
    Resolver,
)
from sregym_env.sim.programs.services.drivers.kafka import ConfluentKafka, KafkaClients, Sarama
from sregym_env.sim.programs.services.drivers.mgo import Mgo
from sregym_env.sim.programs.services.drivers.mongoc import Mongoc
from sregym_env.sim.programs.services.drivers.openfeature import OpenFeature
from sregym_env.sim.programs.services.drivers.sql import LibPq, Npgsql, Psycopg2
from sregym_env.sim.programs.services.drivers.thrift import ThriftCpp, ThriftLua
from sregym_env.sim.programs.services.drivers.valkey import GoRedis, StackExchangeRedis

DRIVERS: Mapping[str, Driver] = {
    "fetch": NodeFetch(),
    "given": Given(),
    "go-http": GoHttp(),
    "gomemcache": Gomemcache(),
    "grpc-go": GrpcGo(),
    "grpc-go-status": GrpcGoStatus(),
    "grpc-js": GrpcJs(),
    "grpc-python": GrpcPython(),
    "libmemcached": Libmemcached(),
    "mgo": Mgo(),
    "mongo-c-driver": Mongoc(),
    "openai-python": OpenAiPython(),
    "redis-plus-plus": RedisPlusPlus(),
    "reqwest": Reqwest(),
    "resolver": Resolver(),
    "confluent-kafka": ConfluentKafka(),
    "go-redis": GoRedis(),
    "kafka-clients": KafkaClients(),
    "lib-pq": LibPq(),
    "npgsql": Npgsql(),
    "openfeature": OpenFeature(),
    "psycopg2": Psycopg2(),
    "sarama": Sarama(),
    "stackexchange-redis": StackExchangeRedis(),
    "thrift-cpp": ThriftCpp(),
    "thrift-lua": ThriftLua(),
}
"""Client libraries by the name that peers use."""

SPOKEN: Mapping[str, str] = {
    **dict.fromkeys(("fetch", "go-http", "openai-python", "reqwest"), "http"),
    **dict.fromkeys(("gomemcache", "libmemcached"), "memcached"),
    **dict.fromkeys(("grpc-go", "grpc-go-status", "grpc-js", "grpc-python"), "grpc"),
    **dict.fromkeys(("mgo", "mongo-c-driver"), "mongodb"),
    **dict.fromkeys(("go-redis", "redis-plus-plus", "stackexchange-redis"), "redis"),
    **dict.fromkeys(("confluent-kafka", "kafka-clients", "sarama"), "kafka"),
    **dict.fromkeys(("lib-pq", "npgsql", "psycopg2"), "postgresql"),
    **dict.fromkeys(("thrift-cpp", "thrift-lua"), "thrift"),
    "openfeature": "flagd",
}
"""What client libraries speak: a protocol of services, or that of a store. ``given`` and ``resolver`` say nothing to anybody."""

"""The client libraries: how a request to a peer reads on the wire, and how a failed one reads to the caller."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.sim.programs.services.drivers.driver import Driver
from sregym_env.sim.programs.services.drivers.gomemcache import Gomemcache
from sregym_env.sim.programs.services.drivers.grpc_go import GrpcGo
from sregym_env.sim.programs.services.drivers.mgo import Mgo

DRIVERS: Mapping[str, Driver] = {"gomemcache": Gomemcache(), "grpc-go": GrpcGo(), "mgo": Mgo()}
"""Client libraries by the name that peers use."""

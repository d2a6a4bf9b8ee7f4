"""Social Network of DeathStarBench, as SREGym deploys it: 27 Deployments, Thrift, Lua, three kinds of store."""

from dataclasses import replace

from sregym_env.apps.social_network.application import application
from sregym_env.apps.social_network.edition import PUBLISHED
from sregym_env.apps.social_network.family import family

APP = replace(application(PUBLISHED), family=family, place=f"{__name__}:APP")
"""The application as it is published."""

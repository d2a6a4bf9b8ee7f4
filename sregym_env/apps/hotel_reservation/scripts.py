"""The scripts that Hotel Reservation's ConfigMaps carry: database accounts and the load generator."""

from __future__ import annotations

from sregym_env.apps.hotel_reservation.edition import NAMESPACE, Edition
from sregym_env.apps.load import rounds
from sregym_env.cluster.app import Account


def target(edition: Edition) -> str:
    """Where the load goes. A name, not the Service's address: users of a real site look it up as well, and a
    repair that re-creates the Service (it gets a new address) must be able to bring the users back."""
    return f"http://frontend.{NAMESPACE}.svc.cluster.local:{edition.offer('frontend')}"


def mongo_accounts(edition: Edition, name: str) -> str:
    """The shell script with which the mongo image initialises an empty data directory.

    It creates the client's and the administrator's account and lets both read and write the database.
    """
    database = edition.database(name)
    accounts: tuple[Account, ...] = edition.accounts[name]
    if edition.expanded:
        accounts = tuple(
            Account(f"${{{variable}_USER}}", f"${{{variable}_PASSWORD}}") for variable in EXPANDED
        )
    created = "".join(
        f"""db.createUser({{
  user: '{account.user}',
  pwd: '{account.password}',
  roles: [ {{ role: 'userAdminAnyDatabase', db: 'admin' }} ]
}})
"""
        for account in accounts
    )
    granted = "".join(
        f"db.grantRolesToUser('{account.user}', [ {{ role: 'readWrite', db: '{database}' }} ])\n"
        for account in accounts
    )
    return f"""#!/bin/bash
set -e

mongo <<EOF
use admin
{created}{granted}EOF
"""


EXPANDED = ("MONGO_CLIENT", "MONGO_ADMIN")
"""How the variables begin from which an init script takes the client's and the administrator's account."""


def workload(edition: Edition) -> str:
    """The script that the load generator runs."""
    return rounds(
        target(edition),
        "mixed-workload_type_1.lua",
        connections=edition.connections,
        seconds=edition.round_seconds,
        rate=edition.rate,
    )


def payload(edition: Edition) -> str:
    """The load generator's requests: their mix and how each is made."""
    search, recommend, user, reserve = edition.mix
    return (
        f"-- The mix of requests: {search * 100:g} % searches, {recommend * 100:g} % recommendations, "
        f"{user * 100:g} % logins, {reserve * 100:g} % reservations.\n"
        f"local search_ratio    = {_ratio(search)}\n"
        f"local recommend_ratio = {_ratio(recommend)}\n"
        f"local user_ratio      = {_ratio(user)}\n"
        f"local reserve_ratio   = {_ratio(reserve)}\n{_REQUESTS}"
    )


def _ratio(share: float) -> str:
    """Two digits after the point, three where they are needed."""
    return f"{share:.3f}".removesuffix("0")


_REQUESTS = """
math.randomseed(os.time())
math.random(); math.random(); math.random()

local function user()
  local id = math.random(0, 500)
  return "Cornell_" .. id, string.rep(tostring(id), 10)
end

local function day(n)
  return string.format("2015-04-%02d", n)
end

local function place()
  local lat = 38.0235 + (math.random(0, 481) - 240.5) / 1000.0
  local lon = -122.095 + (math.random(0, 325) - 157.0) / 1000.0
  return "lat=" .. lat .. "&lon=" .. lon
end

local function search()
  local arrive = math.random(9, 23)
  local leave = math.random(arrive + 1, 24)
  return wrk.format("GET", "/hotels?inDate=" .. day(arrive) .. "&outDate=" .. day(leave) .. "&" .. place())
end

local function recommend()
  local wishes = { "dis", "rate", "price" }
  return wrk.format("GET", "/recommendations?require=" .. wishes[math.random(1, 3)] .. "&" .. place())
end

local function reserve()
  local arrive = math.random(9, 23)
  local leave = arrive + math.random(1, 5)
  local name, password = user()
  return wrk.format("POST", "/reservation?inDate=" .. day(arrive) .. "&outDate=" .. day(leave)
    .. "&hotelId=" .. math.random(1, 80) .. "&customerName=" .. name .. "&username=" .. name
    .. "&password=" .. password .. "&number=1")
end

local function login()
  local name, password = user()
  return wrk.format("POST", "/user?username=" .. name .. "&password=" .. password)
end

request = function()
  local coin = math.random()
  if coin < search_ratio then
    return search()
  elseif coin < search_ratio + recommend_ratio then
    return recommend()
  elseif coin < search_ratio + recommend_ratio + user_ratio then
    return login()
  end
  return reserve()
end
"""

"""The scripts that Hotel Reservation's ConfigMaps carry: database accounts and the load generator."""

from __future__ import annotations

TARGET = "http://frontend.hotel-reservation.svc.cluster.local:5000"
"""Where the load goes. A name, not the Service's address: users of a real site look it up as well, and a
repair that re-creates the Service (it gets a new address) must be able to bring the users back."""

RATE = 100
"""Requests per second."""


def mongo_accounts(database: str) -> str:
    """The shell script with which the mongo image initialises an empty data directory.

    It creates the accounts ``admin`` and ``root`` and lets both read and write ``database``.
    """
    return f"""#!/bin/bash
set -e

mongo <<EOF
use admin
db.createUser({{
  user: 'admin',
  pwd: 'admin',
  roles: [ {{ role: 'userAdminAnyDatabase', db: 'admin' }} ]
}})
db.createUser({{
  user: 'root',
  pwd: 'root',
  roles: [ {{ role: 'userAdminAnyDatabase', db: 'admin' }} ]
}})
db.grantRolesToUser('admin', [ {{ role: 'readWrite', db: '{database}' }} ])
db.grantRolesToUser('root', [ {{ role: 'readWrite', db: '{database}' }} ])
EOF
"""


WORKLOAD = f"""#!/bin/bash
# Offers load to the front end in rounds of 30 seconds, for ever.
TARGET={TARGET}

round=1
while true; do
  echo "Running wrk2 on round #$round"
  wrk -D exp -t 3 -c 100 -d 30s -L -s /scripts/mixed-workload_type_1.lua "$TARGET" -R {RATE}
  sleep 1
  round=$((round + 1))
done
"""

PAYLOAD = """-- The mix of requests: 60 % searches, 39 % recommendations, 0.5 % logins, 0.5 % reservations.
local search_ratio    = 0.60
local recommend_ratio = 0.39
local user_ratio      = 0.005
local reserve_ratio   = 0.005

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

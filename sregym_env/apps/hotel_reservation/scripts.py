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

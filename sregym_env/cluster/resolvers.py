"""Name servers outside every cluster."""

from __future__ import annotations

PUBLIC_RESOLVERS = (
    "8.8.8.8",
    "8.8.4.4",
    "1.1.1.1",
    "1.0.0.1",
    "9.9.9.9",
    "208.67.222.222",
    "208.67.220.220",
    "114.114.114.114",
)
"""Servers that answer anybody, and know no name of a cluster: Google's, Cloudflare's, Quad9's, OpenDNS' and 114DNS'."""

"""Worlds with a past: drawn clusters, tenants, variation of applications, and the changes a world has lived through."""

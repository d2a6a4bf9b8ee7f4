"""Searching for what pays without understanding: texts against the judge, repairs against the oracle."""

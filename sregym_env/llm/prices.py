"""What tokens cost. Prices change and differ by contract, so they are the user's to give; unknown ones cost None."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from sregym_env.llm.messages import Frozen

_MILLION = 1_000_000


class Price(Frozen):
    """US dollars per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    """Prompt tokens that the server had in its cache; like the others if not given."""
    cache_write: float | None = Field(default=None, ge=0)
    """Prompt tokens that the server put into its cache; like the others if not given."""


def cost(price: Price, *, prompt: int, cached: int, written: int, completion: int) -> float:
    """US dollars; ``cached`` and ``written`` are parts of ``prompt``."""
    cached_price = price.input if price.cached_input is None else price.cached_input
    write_price = price.input if price.cache_write is None else price.cache_write
    fresh = max(0, prompt - cached - written)
    dollars = fresh * price.input + cached * cached_price + written * write_price + completion * price.output
    return dollars / _MILLION


def price_of(prices: Mapping[str, Price], *names: str) -> Price | None:
    """The price of the first of a model's names that is listed; None if none is."""
    return next((prices[name] for name in names if name in prices), None)

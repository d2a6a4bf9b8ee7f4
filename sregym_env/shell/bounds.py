"""Bounds that the interpreter lacks: arithmetic in 64 bits, as bash's, so that no number fills the memory."""

from __future__ import annotations

from typing import Any

from just_bash.interpreter import control_flow, expansion, interpreter

from sregym_env.shell.dialect import evaluator

_WIDE = 1 << 64


def wrapped(number: int) -> int:
    """A number as bash's 64-bit signed integers hold it."""
    number &= _WIDE - 1
    return number - _WIDE if number >> 63 else number


def _explosive(operator: str, left: int, right: int) -> int:
    """Powers and shifts, whose plain result could fill the memory. Raises ValueError."""
    if operator == "<<":
        return wrapped(left << (right & 63))
    if right < 0:
        raise ValueError("exponent less than 0")
    return wrapped(pow(left, right, _WIDE))


def _is_explosive(node: Any) -> bool:
    return getattr(node, "type", "") == "ArithBinary" and node.operator in ("**", "<<")


_plain = evaluator(expansion.evaluate_arithmetic)
_plain_sync = expansion.evaluate_arithmetic_sync


async def _evaluate(ctx: Any, node: Any) -> int:
    """Evaluate an arithmetic expression within 64 bits."""
    if _is_explosive(node):
        return _explosive(node.operator, await _evaluate(ctx, node.left), await _evaluate(ctx, node.right))
    return wrapped(await _plain(ctx, node))


def _evaluate_sync(ctx: Any, node: Any) -> int:
    """The same where nothing may be awaited."""
    if _is_explosive(node):
        return _explosive(node.operator, _evaluate_sync(ctx, node.left), _evaluate_sync(ctx, node.right))
    return wrapped(_plain_sync(ctx, node))


def install() -> None:
    """Put the bounds in place."""
    for module in (expansion, interpreter, control_flow):
        module.evaluate_arithmetic = _evaluate
    expansion.evaluate_arithmetic_sync = _evaluate_sync

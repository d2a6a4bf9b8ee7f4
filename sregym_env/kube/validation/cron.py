"""The schedule of a CronJob: the standard five fields, checked as ``robfig/cron`` does."""

from __future__ import annotations

import re
from functools import lru_cache

from sregym_env.runtime.numbers import is_whole, whole

_MONTHS = {
    m: i + 1
    for i, m in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    )
}
_DAYS = {d: i for i, d in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)
_DESCRIPTORS = frozenset(("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"))


@lru_cache(maxsize=1024)
def schedule_error(schedule: str) -> str:
    """What is wrong with a schedule, empty when it is fine."""
    text = schedule
    if text.startswith(("TZ=", "CRON_TZ=")):
        text = text.partition(" ")[2].strip()
    if text.startswith("@"):
        if text in _DESCRIPTORS or re.fullmatch(r"@every \d+(\.\d+)?[a-zµ]+.*", text):
            return ""
        return f"unrecognized descriptor: {text}"
    fields = text.split()
    if len(fields) != 5:
        return f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    for field, (low, high, words) in zip(fields, _FIELDS, strict=True):
        for part in field.split(","):
            if error := _range_error(part, low, high, words):
                return error
    return ""


def _range_error(part: str, low: int, high: int, words: dict[str, int]) -> str:
    pieces = part.split("/")
    if len(pieces) > 2:
        return f"too many slashes: {part}"
    bounds = pieces[0].split("-")
    if len(bounds) > 2:
        return f"too many hyphens: {part}"
    if bounds[0] in ("*", "?"):
        start, end = low, high
    else:
        numbers = []
        for bound in bounds:
            number, error = _number(bound, words)
            if error:
                return error
            numbers.append(number)
        start, end = numbers[0], numbers[-1]
        if len(numbers) == 1 and len(pieces) == 2:
            end = high
    if len(pieces) == 2:
        step, error = _number(pieces[1], {})
        if error:
            return error
        if step == 0:
            return f"step of range should be a positive number: {part}"
    if start < low:
        return f"beginning of range ({start}) below minimum ({low}): {part}"
    if end > high:
        return f"end of range ({end}) above maximum ({high}): {part}"
    if start > end:
        return f"beginning of range ({start}) beyond end of range ({end}): {part}"
    return ""


def _number(text: str, words: dict[str, int]) -> tuple[int, str]:
    if text.lower() in words:
        return words[text.lower()], ""
    number = whole(text)
    if number is not None:
        return number, ""
    if is_whole(text):
        return 0, f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": value out of range'
    if re.fullmatch(r"-\d+", text):
        return 0, f"negative number ({text}) not allowed: {text}"
    return 0, f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax'

"""Regular expressions that a hostile pattern cannot hang: RE2 in the place of Python's ``re``.

``grep``, ``sed``, ``awk``, ``jq``, ``find`` and ``[[ =~ ]]`` take their patterns from the
agent. Python's matcher backtracks, so ``(a+)+$`` against a short line would run for years; RE2 takes linear
time. Patterns that RE2 has no words for (back-references, look-around) go to Python's matcher if they nest no
unbounded repeats, and are refused otherwise.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Any

import re2

_LONGEST = 20_000
"""Characters in a pattern at most."""


_NAMED = re.compile(r"\(\?<(?=[A-Za-z_])")
"""How jq and Perl begin a named group; Python and RE2 write ``(?P<``."""


@lru_cache(maxsize=2048)
def compiled(pattern: str, flags: int = 0) -> Any:
    """A pattern ready to match. Raises ``re.error`` for one that is wrong or could run without end."""
    if len(pattern) > _LONGEST:
        raise re.error("regular expression is too big")
    pattern = _NAMED.sub("(?P<", pattern)
    # Always, so that what is a pattern does not depend on which matcher runs in the end.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # what an agent types is no concern of ours
        checked = re.compile(pattern, flags)
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not flags & re.IGNORECASE
    options.dot_nl = bool(flags & re.DOTALL)
    # RE2's own option for lines works in its POSIX syntax only.
    written = f"(?m){pattern}" if flags & re.MULTILINE else pattern
    try:
        # RE2 has no verbose patterns.
        if not flags & re.VERBOSE:
            return re2.compile(written, options)
    except re2.error:
        pass
    if _nests_repeats(pattern):
        raise re.error("regular expression is too complex")
    return checked


_REPEATS = re.compile(r"\((?:[^()\\]|\\.)*[*+](?:[^()\\]|\\.)*\)\s*(?:[*+]|\{\d*,)")


def _nests_repeats(pattern: str) -> bool:
    """Whether a group that repeats without bound holds something that does."""
    return _REPEATS.search(pattern) is not None or pattern.count("*") + pattern.count("+") > 8

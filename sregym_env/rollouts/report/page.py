"""The page itself: one file that holds its data, its looks and its script, and may load nothing else.

All texts that agents, models and clusters wrote travel as JSON in a block that no browser executes and are shown as
text; the policy in the page's head allows only the script and the style that are in it, by their hashes, and refuses
to turn any string into markup.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any, Final

SCRIPTS: Final = ("draw.js", "overview.js", "replay.js", "main.js")
STYLE: Final = "report.css"

_PAGE: Final = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript>This report draws itself with the script that is in it; allow it to run. It loads nothing.</noscript>
<main id="page"></main>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def page(title: str, data: Mapping[str, Any]) -> str:
    """The whole file. ``data`` is plain JSON."""
    style, script = _asset(STYLE), "'use strict';(() => {\n" + "\n".join(map(_asset, SCRIPTS)) + "\n})();"
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        )
    )
    return _PAGE.format(policy=policy, title=escape(title), style=style, data=inert(data), script=script)


def inert(data: Any) -> str:
    """JSON in ASCII that can stand in a page whatever it says: it has no ``<``, so it can neither close its block nor
    open a comment."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _asset(name: str) -> str:
    return files("sregym_env.rollouts.report").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return "'sha256-" + b64encode(sha256(text.encode()).digest()).decode() + "'"

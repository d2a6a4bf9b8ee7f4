"""Tool calls between the special tokens and tags of models' chat templates.

One reader per family: Hermes and Qwen (JSON in ``<tool_call>``), Qwen-Coder (``<function=...>``), GLM (``<arg_key>``), Llama
(``<|python_tag|>``), Mistral (``[TOOL_CALLS]``), DeepSeek and Kimi (``<|tool_call_begin|>``), Claude's old XML and MiniMax
(``<invoke name=...>``), gpt-oss (``to=functions...<|message|>``). Every reader moves forward only: no text costs more than
a few readings of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sregym_env.llm import jsontext
from sregym_env.tools.call import Refusal, ToolCall
from sregym_env.tools.grammar import documents, spelled
from sregym_env.tools.grammar.documents import Calls
from sregym_env.tools.tool import BY_NAME

Reading = tuple[Calls, int]
"""The calls that were read, and the index at which to go on."""

MAX_TAGS = 64
"""Tags that are read in one text: more than enough for the calls that may stand in it."""

_BAR = "[|\uff5c]"
_GAP = "[_\u2581 ]"

_OPENING = re.compile(
    r"(?P<block><tool_call>|<function_call>|<tools>)"
    r"|(?P<function><function=)"
    r"|(?P<python><\|python_tag\|>)"
    r"|(?P<mistral>\[TOOL_CALLS\])"
    rf"|(?P<token><{_BAR}tool{_GAP}call{_GAP}begin{_BAR}>)"
    r"|(?P<invoke><(?:\w{1,20}:)?invoke\s+name=|<[|\uff5c]DSML[|\uff5c]invoke\s+name=)"
    r"|(?P<channel>\bto=functions\.)"
)

_CLOSINGS = ("</tool_call>", "</function_call>", "</tools>")


def calls(text: str, looked_at: str) -> Calls | None:
    """The calls of a text, and refusals of what was meant as one; None where nothing is tagged.

    ``looked_at`` is the text with what may not be read as a call blanked out.
    """
    found: Calls = []
    tagged = False
    index = 0
    for _ in range(MAX_TAGS):
        match = _OPENING.search(looked_at, index)
        if match is None:
            break
        tagged = True
        kind = str(match.lastgroup)
        read, index = _READERS[kind](text, match.end())
        # Whatever a reader makes of it, the next tag is looked for behind this one.
        index = max(index, match.end())
        found += read
    if any(isinstance(call, ToolCall) for call in found):
        # A tag that is only spoken of, beside a call that was made, needs no answer.
        found = [call for call in found if call is not _NOTHING]
    return found if tagged else None


_NOTHING = Refusal("a <tool_call> block does not hold JSON with a name and arguments")
_HALF = Refusal("the tool call ends before its arguments do")


def _block(text: str, start: int) -> Reading:
    """``<tool_call>``: a document, or what GLM and Qwen-Coder put there instead."""
    start = _behind(text, start, r"\s*(?:<tool_call>\s*)*(?:```(?:json)?\s*)?")
    document = documents.sequence(text, start)
    if document is not None:
        return document
    inner = re.compile(r"<function=").match(text, start)
    if inner is not None:
        return _function(text, inner.end())
    end = _end_of_block(text, start)
    body = text[start:end]
    if body.startswith(("{", "[{")):
        return [documents.NOT_JSON], end
    pairs = _pairs(body)
    if pairs is not None:
        return [pairs], end
    written = spelled.calls(body)
    return (list(written) if written else [_NOTHING]), end


def _end_of_block(text: str, start: int) -> int:
    """Where the block ends: at its closing tag, at the next opening one, or with the text."""
    ends = [text.find(tag, start) for tag in (*_CLOSINGS, "<tool_call>")]
    return min([end for end in ends if end >= 0], default=len(text))


_KEY = "<arg_key>"
_VALUE = "<arg_value>"


def _pairs(body: str) -> ToolCall | Refusal | None:
    """GLM: the name, then pairs of ``<arg_key>`` and ``<arg_value>``."""
    name, separator, rest = body.partition(_KEY)
    name = name.strip()
    if not re.fullmatch(r"[A-Za-z_][\w.-]{0,60}", name):
        return None
    if not separator:
        return ToolCall(name) if name in BY_NAME else None
    arguments: dict[str, str] = {}
    for pair in rest.split(_KEY):
        key, _, value = pair.partition("</arg_key>")
        value, closing, _ = value.partition(_VALUE)[2].rpartition("</arg_value>")
        if not closing:
            return _HALF
        arguments[key.strip()] = _value(value)
    return ToolCall(name, arguments)


def _function(text: str, start: int) -> Reading:
    """Qwen-Coder: ``<function=shell><parameter=command>...</parameter></function>``; Llama puts JSON inside."""
    name = re.compile(r"\"?([\w.-]{1,60})\"?\s*>\s*").match(text, start)
    if name is None:
        return [_NOTHING], start
    document = _arguments(text, name.end())
    if document is not None:
        return [ToolCall(_plain(name[1]), document[0])], document[1]
    end = _first(text, name.end(), ("</function>", "</tool_call>", "<function="))
    body = text[name.end() : end]
    return [_with_parameters(name[1], body, "<parameter=", whole=end < len(text))], end


def _invoke(text: str, start: int) -> Reading:
    """``<invoke name="shell"><parameter name="command">...</parameter></invoke>``."""
    name = re.compile(r"[\"']([\w.-]{1,60})[\"'][^>\n]{0,60}>\s*").match(text, start)
    if name is None:
        return [_NOTHING], start
    end = _first(text, name.end(), ("</invoke>", "invoke>", "<invoke "))
    body = re.sub(r"<(/?)[|\uff5c]DSML[|\uff5c]", r"<\1", text[name.end() : end])
    return [_with_parameters(name[1], body, "<parameter name=", whole=end < len(text))], end


def _with_parameters(name: str, body: str, opening: str, *, whole: bool) -> ToolCall | Refusal:
    """The call whose parameters stand in tags. A value ends at its last closing tag, since commands may hold one; without
    any it ends with the call if that is ``whole``: half a command is not carried out."""
    arguments: dict[str, str] = {}
    first, *parts = body.split(opening)
    if first.strip():
        return _NOTHING
    for part in parts:
        key, bracket, value = part.partition(">")
        inner, closing, _ = value.rpartition("</parameter>")
        if not bracket or len(key) > 120 or not (closing or whole):
            return _HALF
        # The name may be followed by attributes: name="command" string="true".
        key = key.strip().strip("\"'").split('"')[0].split("'")[0]
        arguments[key] = _value(inner if closing else value)
    return ToolCall(_plain(name), arguments)


def _value(text: str) -> str:
    """A value without the line break that templates put before and behind it."""
    return text.removeprefix("\n").removesuffix("\n")


def _python(text: str, start: int) -> Reading:
    """Llama: documents between semicolons, or ``shell.call(command="ls")``."""
    document = documents.sequence(text, start)
    if document is not None:
        return document
    end = _first(text, start, ("<|",))
    written = spelled.calls(text[start:end])
    if written is not None:
        return list(written), end
    return [
        Refusal("what follows <|python_tag|> is no tool call; write JSON with a name and parameters")
    ], end


def _mistral(text: str, start: int) -> Reading:
    """Mistral: a list of documents, or a name and its arguments."""
    start = _behind(text, start, r"\s*")
    document = documents.sequence(text, start)
    if document is not None:
        return document
    name = re.compile(r"([\w.-]{1,60})\s*(?:\[CALL_ID\]([\w-]{0,60})\s*)?(?:\[ARGS\])?\s*").match(text, start)
    if name is None:
        return [documents.NOT_JSON], start
    arguments = _arguments(text, name.end())
    if arguments is None:
        return [documents.NOT_JSON], _first(text, name.end(), ("[TOOL_CALLS]",))
    return [ToolCall(_plain(name[1]), arguments[0], name[2] or "")], arguments[1]


_TOKEN_NAME = re.compile(
    rf"\s*(?:function\s*<{_BAR}tool{_GAP}sep{_BAR}>)?\s*([\w.-]{{1,60}}(?::\d{{1,6}})?)\s*"
    rf"(?:<{_BAR}tool{_GAP}(?:sep|call{_GAP}argument{_GAP}begin){_BAR}>)?\s*(?:```(?:json)?)?\s*"
)


def _token(text: str, start: int) -> Reading:
    """DeepSeek: ``function<sep>shell`` and arguments in a fence, later both bare; Kimi: ``functions.shell:0``."""
    name = _TOKEN_NAME.match(text, start)
    if name is None:
        return [documents.NOT_JSON], start
    arguments = _arguments(text, name.end())
    if arguments is None:
        return [documents.NOT_JSON], name.end()
    identifier = name[1] if ":" in name[1] else ""
    return [ToolCall(_plain(name[1].partition(":")[0]), arguments[0], identifier)], arguments[1]


def _channel(text: str, start: int) -> Reading:
    """gpt-oss: ``to=functions.shell <|constrain|>json<|message|>{...}``."""
    name = re.compile(r"([\w-]{1,60})[^{}]{0,80}?<\|message\|>\s*").match(text, start)
    arguments = None if name is None else _arguments(text, name.end())
    if name is None or arguments is None:
        return [documents.NOT_JSON], start
    return [ToolCall(name[1], arguments[0])], arguments[1]


_READERS: dict[str, Callable[[str, int], Reading]] = {
    "block": _block,
    "function": _function,
    "python": _python,
    "mistral": _mistral,
    "token": _token,
    "invoke": _invoke,
    "channel": _channel,
}


def _arguments(text: str, start: int) -> tuple[dict[str, object], int] | None:
    """The object that begins at an index, and the index behind it."""
    if text[start : start + 1] != "{":
        return None
    try:
        value, end = jsontext.at(text, start)
    except ValueError:
        return None
    return value, end


def _plain(name: str) -> str:
    return name.removeprefix("functions.").removeprefix("tools.")


def _behind(text: str, start: int, pattern: str) -> int:
    match = re.compile(pattern).match(text, start)
    return start if match is None else match.end()


def _first(text: str, start: int, tags: tuple[str, ...]) -> int:
    """The index of the first of these tags; that of the text's end where there is none."""
    found = [place for place in (text.find(tag, start) for tag in tags) if place >= 0]
    return min(found, default=len(text))

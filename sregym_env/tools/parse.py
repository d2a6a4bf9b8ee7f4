"""The grammar of actions: from whatever text a model writes to what an environment does.

Thoughts are taken away first. Understood then, in this order: a JSON document (plain, OpenAI's, Anthropic's), the tags and
tokens of chat templates, fenced code blocks, JSON behind prose, and raw command lines, which may quote all of these. Nothing
here ever raises: what cannot be understood becomes a :class:`~sregym_env.tools.call.Refusal` that says why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sregym_env.tools.call import Action, Refusal, ToolCall
from sregym_env.tools.grammar import documents, fences, spelled, tagged
from sregym_env.tools.grammar.documents import Calls
from sregym_env.tools.grammar.shell_lines import is_command, is_prose, masked
from sregym_env.tools.grammar.thoughts import spoken
from sregym_env.tools.submit import from_line
from sregym_env.tools.tool import action

MAX_ACTION_CHARS = 65_536
"""Longer actions are refused: no sane command line or diagnosis needs more."""

MAX_CALLS = 16
"""Tool calls understood in one action."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_PREFIX = re.compile(r"\$[ \t]+(?=\S)")

_WANTED = "write a command line or a tool call"
_EMPTY = Refusal(f"the action is empty; {_WANTED}")
_ONLY_THOUGHT = Refusal(f"the action is only a thought; {_WANTED} behind it")
_ENDLESS_THOUGHT = Refusal(
    f"the thought is never closed, so nothing is done; end it with </think> and {_WANTED}"
)
_NO_CALL = Refusal(f"the JSON holds no tool call; {_WANTED}")
_PROSE = Refusal(f"this is prose, with no command or tool call in it; {_WANTED}")
_NO_BLOCK = Refusal("no fenced block is of a kind that is carried out: bash, or json with a tool call")


def parse(text: str) -> tuple[Action, ...]:
    """The actions a text asks for, at least one. Never raises, whatever the text is."""
    if len(text) > MAX_ACTION_CHARS:
        return (Refusal(f"the action is {len(text)} characters long; at most {MAX_ACTION_CHARS} are read"),)
    cleaned = _clean(text)
    if not cleaned:
        return (_EMPTY,)
    said, endless = spoken(cleaned)
    if endless:
        return _called(_calls_in(said)) or (_ENDLESS_THOUGHT,)
    return _understood(said) if said else (_ONLY_THOUGHT,)


def _clean(text: str) -> str:
    if _CONTROL.search(text):
        text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return text.encode("utf-8", "replace").decode("utf-8").strip()


def _understood(text: str) -> tuple[Action, ...]:
    if text[0] in "{[":
        calls = documents.whole(text)
        if calls is not None:
            return _called(calls) or _from_message(text)
        written = spelled.calls(text)
        if written is not None:
            return _called(written)
    return _called(_calls_in(text)) or _without_calls(text)


def _calls_in(text: str) -> Calls:
    """The calls that stand somewhere in a text as nothing but a call can; none where a shell would read them as words."""
    if not any(sign in text for sign in ("<", "[TOOL_CALLS]", "to=", '"', "(")):
        return []
    looked_at = masked(text)
    calls = tagged.calls(text, looked_at)
    if calls is not None and (any(isinstance(call, ToolCall) for call in calls) or not is_command(text)):
        return calls
    if "```" in text:
        # What is fenced is read as fenced.
        return []
    written = spelled.calls(text)
    if written is not None:
        return list(written)
    return [] if is_command(text) else documents.behind_prose(text, looked_at)


def _without_calls(text: str) -> tuple[Action, ...]:
    # A fence inside a here-document or a diagnosis is part of what is handed over.
    if "```" in text and "```" in masked(text) and not text.startswith("submit"):
        actions, some = _from_fences(text)
        if actions:
            return actions
        calls = [] if is_command(text) else documents.behind_prose(text, text)
        if calls:
            return _called(calls)
        if some and not is_command(text):
            return (_NO_BLOCK,)
    if documents.is_broken(text):
        return (documents.NOT_JSON,)
    if is_prose(text):
        return (_PROSE,)
    return (_from_line(text),)


def _from_message(text: str) -> tuple[Action, ...]:
    """An assistant's message without calls is what it says."""
    words = (documents.words(text) or "").strip()
    # A message inside a message is nobody's.
    return _without_calls(words) if words and words[0] not in "{[" else (_NO_CALL,)


def _from_line(line: str) -> Action:
    prompt = _PREFIX.match(line)
    # Models copy the prompt of a user; that of root looks like a comment, so it stays one.
    if prompt is not None:
        line = line[prompt.end() :]
    if line.startswith("submit"):
        submitted = from_line(line)
        if isinstance(submitted, str):
            return Refusal(submitted, "parse_error", "submit")
        if submitted is not None:
            return submitted
    return action(ToolCall("shell", {"command": line}))


def _from_fences(text: str) -> tuple[tuple[Action, ...], bool]:
    """What the fenced blocks ask for, and whether there are any."""
    blocks = fences.blocks(text)
    actions: list[Action] = []
    broken = False
    for language, body in blocks:
        calls: Sequence[ToolCall | Refusal] | None = None
        if language in fences.JSON_LANGUAGES or body[0] in "{[":
            calls = documents.whole(body) or (documents.sequence(body, 0) or ([], 0))[0] or None
        calls = calls or spelled.calls(body)
        if calls:
            actions += [_acted(call) for call in calls]
        elif documents.is_broken(body):
            broken = True
        elif language in fences.SHELL_LANGUAGES:
            actions.append(_from_line(body))
    if broken and not actions:
        actions.append(documents.NOT_JSON)
    return _limited(actions), bool(blocks)


def _called(calls: Sequence[ToolCall | Refusal]) -> tuple[Action, ...]:
    return _limited([_acted(call) for call in calls])


def _acted(call: ToolCall | Refusal) -> Action:
    return call if isinstance(call, Refusal) else action(call)


def _limited(actions: list[Action]) -> tuple[Action, ...]:
    if len(actions) > MAX_CALLS:
        return (Refusal(f"{len(actions)} tool calls in one action; at most {MAX_CALLS} are carried out"),)
    return tuple(actions)

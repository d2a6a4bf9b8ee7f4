"""What models think aloud: taken away, so that what they say is left."""

from __future__ import annotations

import re

from sregym_env.tools.grammar.shell_lines import is_command, masked

_OPEN = re.compile(r"\s*(?:<(?:think|thinking|thought|reasoning|seed:think)>|\[THINK\]|\u25c1think\u25b7)")
_CLOSE = re.compile(r"</(?:think|thinking|thought|reasoning|seed:think)>|\[/THINK\]|\u25c1/think\u25b7")
_ENDS_LINE = re.compile(r"[ \t]*(?:\n|\Z|[<{\[`])")
_SPEAKS = re.compile(r"\s*(?:<[|\uff5c\w]|[{\[`])")

_MAX_CLOSINGS = 32
"""Closing tags that are looked at one by one."""

_HEADER = re.compile(
    r"\s*(?:<\|im_start\|>assistant\s|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|start\|>assistant(?=<))"
)
_ENDINGS = (
    "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<|return|>", "<|call|>",
    "</s>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "<end_of_turn>", "<eos>",
)  # fmt: skip
_FINAL = "<|channel|>final<|message|>"
_ANALYSIS = "<|channel|>analysis"


def spoken(text: str) -> tuple[str, bool]:
    """What is left without the thoughts, and whether a thought began that never ends: then all of it is left."""
    text = _bare(text)
    if _FINAL in text:
        return text.rpartition(_FINAL)[2].strip(), False
    opening = _OPEN.match(text)
    if opening is not None:
        answer = _behind_thoughts(text, opening.end())
        return (text[opening.end() :].strip(), True) if answer is None else (answer.strip(), False)
    if text.startswith(_ANALYSIS) and "to=" not in text:
        return text.rpartition("<|message|>")[2].strip(), True
    return _behind_unopened(text).strip(), False


def _bare(text: str) -> str:
    """Without the special tokens of a chat template that a server left around the message."""
    header = _HEADER.match(text)
    text = text[header.end() :] if header else text
    while True:
        text = text.strip()
        ending = next((ending for ending in _ENDINGS if text.endswith(ending)), "")
        if not ending:
            return text
        text = text[: -len(ending)]


def _behind_thoughts(text: str, start: int) -> str | None:
    """What follows the last closing tag, except that one inside a call or a quotation closes nothing."""
    closings = list(_CLOSE.finditer(text, start))
    if len(closings) > _MAX_CLOSINGS:
        return text[closings[-1].end() :]
    answer = None
    for match in closings:
        if answer is not None:
            between = text[len(text) - len(answer) : match.start()]
            if _SPEAKS.match(answer) and between.strip():
                break
            if is_command(answer.lstrip()) and not _CLOSE.search(masked(answer.lstrip())):
                break
        answer = text[match.end() :]
    return answer


def _behind_unopened(text: str) -> str:
    """Templates open the thought in the prompt, so that the text holds its end alone."""
    looked_at = masked(text)
    command = looked_at is not text or is_command(text)
    last = None
    for match in _CLOSE.finditer(looked_at):
        if not command or _ENDS_LINE.match(text, match.end()):
            last = match
        if _SPEAKS.match(text, match.end()):
            break
    if last is None or _inside_document(text):
        return text
    return text[last.end() :]


def _inside_document(text: str) -> bool:
    """Whether the text is a JSON document or a block of a call, which may speak of thoughts as it likes."""
    return text.startswith(("{", "[{", "<tool_call", "<function", "```"))

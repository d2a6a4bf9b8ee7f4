"""How a kubectl command fails: a text for stderr and an exit code."""

from __future__ import annotations

from sregym_env.errors import SREGymError
from sregym_env.kube.status import StatusError


class KubectlError(SREGymError):
    """A command that ends with a message on stderr. ``text`` is printed as it is, with a newline added."""

    def __init__(self, text: str, exit_code: int = 1) -> None:
        super().__init__(text)
        self.text = text
        self.exit_code = exit_code


def failure(message: str) -> KubectlError:
    """An ``error: ...`` of kubectl itself."""
    return KubectlError(f"error: {message}")


def usage_failure(message: str, command: str, flag: str = "-h", tail: str = " for help and examples") -> KubectlError:
    """An error of usage, which points at the command's help (``cmdutil.UsageErrorf``)."""
    return KubectlError(f"error: {message}\nSee 'kubectl {command} {flag}'{tail}")


def server_text(error: StatusError) -> str:
    """What kubectl prints for an error of the API server (``cmdutil.StandardErrorMessage``)."""
    if error.code == 401:
        return f"error: You must be logged in to the server ({error.message})"
    if error.reason == "Invalid" and not error.message:
        return "Error from server (Invalid)"
    if error.reason == "Invalid":
        return f"The {_before_invalid(error.message)}"
    if error.reason in ("", "Unknown"):
        return f"Error from server: {error.message}"
    return f"Error from server ({error.reason}): {error.message}"


def _before_invalid(message: str) -> str:
    """``Deployment.apps "x" is invalid: ...`` keeps its words; several causes become a list of stars."""
    head, found, rest = message.partition(" is invalid: ")
    if not found:
        return message
    if not rest.startswith("["):
        return message
    causes = _split_causes(rest[1:-1])
    lines = "".join(f"\n* {cause}" for cause in causes)
    return f"{head} is invalid: {lines}"


def _split_causes(text: str) -> list[str]:
    causes: list[str] = []
    depth = 0
    quoted = False
    start = 0
    for i, char in enumerate(text):
        if char == '"' and text[i - 1 : i] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif char in "[{(":
            depth += 1
        elif char in "]})":
            depth -= 1
        elif char == "," and depth == 0 and _begins_field(text[i + 2 :]):
            causes.append(text[start:i])
            start = i + 2
    causes.append(text[start:])
    return causes


def _begins_field(text: str) -> bool:
    path, colon, _ = text.partition(": ")
    return bool(colon) and " " not in path.split("[")[0]

"""How a kubectl command fails: a text for stderr and an exit code."""

from __future__ import annotations

from sregym_env.errors import SREGymError
from sregym_env.kube.status import StatusError

INVALID_TIMEOUT = (
    "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit "
    "(e.g. 1s | 2m | 3h)"
)


NAMELESS = "resource name may not be empty"


class KubectlError(SREGymError):
    """A command that ends with a message on stderr. ``text`` is printed as it is, with a newline added."""

    def __init__(self, text: str, exit_code: int = 1) -> None:
        super().__init__(text)
        self.text = text
        self.exit_code = exit_code


def failure(message: str) -> KubectlError:
    """An ``error: ...`` of kubectl itself."""
    return KubectlError(f"error: {message}")


def usage_failure(
    message: str, command: str, flag: str = "-h", tail: str = " for help and examples"
) -> KubectlError:
    """An error of usage, which points at the command's help (``cmdutil.UsageErrorf``)."""
    return KubectlError(f"error: {message}\nSee 'kubectl {command} {flag}'{tail}")


def server_text(error: StatusError) -> str:
    """What kubectl prints for an error of the API server (``cmdutil.StandardErrorMessage``)."""
    if error.code == 401:
        return f"error: You must be logged in to the server ({error.message})"
    if error.reason == "Invalid":
        return _invalid_text(error)
    if error.reason in ("", "Unknown"):
        return f"Error from server: {error.message}"
    return f"Error from server ({error.reason}): {error.message}"


def _invalid_text(error: StatusError) -> str:
    """``The Deployment "x" is invalid: cause``; several causes become a starred list."""
    details = error.details
    if not details:
        return f"The request is invalid: {error.message}"
    kind, name = details.get("kind", ""), details.get("name", "")
    head = f'The {kind} "{name}" is invalid' if kind or name else "The request is invalid"
    causes = list(dict.fromkeys(f"{c.get('field', '')}: {c['message']}" for c in details.get("causes") or ()))
    if not causes:
        return head
    if len(causes) == 1:
        return f"{head}: {causes[0]}"
    return f"{head}: " + "".join(f"\n* {cause}" for cause in causes)

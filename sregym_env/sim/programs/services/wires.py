"""How services of further frameworks are spoken to: gRPC servers that word their failures, and web frameworks."""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.sim.programs.services.protocols import BRIEF, Grpc, Web
from sregym_env.sim.world.program import Call, Failure, Flow


@dataclass(frozen=True, slots=True)
class WordedGrpc(Grpc):
    """gRPC whose handlers give a status of their own to what went wrong."""

    code: str = "Unknown"
    """What a handler answers with that catches nothing (``Unknown`` in most languages), or always."""
    words: str = "{error}"
    """What it says of an error that it passes on."""
    lacking: str = "unknown method {method} for service {service}"
    """What its library says of a method that the server does not have."""

    def unserved(self, service: str, method: str) -> str:
        """In the words of its library."""
        return self.lacking.replace("{method}", method).replace("{service}", service)

    def passed(self, failure: Failure, answer: str) -> Failure:
        """A status with the handler's words around what it was told."""
        text = (answer or self.words).replace("{error}", failure.text)
        return Failure("error", f"rpc error: code = {self.code} desc = {text}")

    def refused(self, answer: str) -> Failure:
        """The handler's own status: ``Code: text``."""
        code, colon, text = answer.partition(": ")
        if not colon or not code.isalpha():
            code, text = self.code, answer
        return Failure("error", f"rpc error: code = {code} desc = {text}")


@dataclass(frozen=True, slots=True)
class Framework(Web):
    """A web framework with pages of its own."""

    missing: str
    """What a path says that nothing serves."""
    wrong: str = "Internal Server Error"
    """What every failure says."""

    def unknown(self, call: Call, later: bool = False) -> Flow:
        """404."""
        return Flow(0.0, BRIEF, ((Failure("http", self.missing, 404), 1.0),))

    def passed(self, failure: Failure, answer: str) -> Failure:
        """500; the cause stays in the log."""
        return Failure("http", answer.replace("{error}", failure.text) or self.wrong, 500)


LACKED_BY_JAVA = "Method not found: {service}/{method}"
LACKED_BY_DOTNET = "Method is unimplemented."
LACKED_BY_NODE = "The server does not implement the method /{service}/{method}"
LACKED_BY_PYTHON = "Method not found!"
LACKED_BY_CPP = ""

NEXT = Framework(
    '<!DOCTYPE html><html lang="en"><head><title>404: This page could not be found</title></head><body>'
    "<h1>404</h1><h2>This page could not be found.</h2></body></html>"
)
"""Next.js."""
NGINX = Framework(
    "<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>\r\n"
    "<hr><center>nginx/1.29.0</center>\r\n</body>\r\n</html>\r\n"
)
"""nginx."""
ACTIX = Framework("", "Failed to get quote")
"""actix-web: an empty page."""
SINATRA = Framework("<h1>Not Found</h1>", "<h1>Internal Server Error</h1>")
"""Sinatra in production."""
SLIM = Framework('{"message": "404 Not Found"}', '{"message": "Slim Application Error"}')
"""Slim for PHP."""
FLASK = Framework(
    "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n<p>The requested URL was not found on "
    "the server. If you entered the URL manually please check your spelling and try again.</p>\n",
    "<!doctype html>\n<html lang=en>\n<title>500 Internal Server Error</title>\n<h1>Internal Server Error</h1>\n",
)
"""Flask."""
PHOENIX = Framework("Not Found")
"""Phoenix."""

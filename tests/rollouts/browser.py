"""A real browser for tests: headless Chromium, driven over its DevTools protocol."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import websocket

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 60.0
"""Seconds that anything may take on a busy machine."""


def chromium() -> str | None:
    """Where there is a Chromium; None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Tab:
    """One page. What it logs, throws and asks for is collected."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=PATIENCE, suppress_origin=True)
        self._number = 0
        self.complaints: list[str] = []
        """Errors and warnings of the console, and uncaught exceptions."""
        self.requests: list[str] = []
        """Addresses that the page asked for."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol and its answer."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._number:
                assert "error" not in message, f"{method}: {message['error']}"
                result: dict[str, Any] = message["result"]
                return result
            self._note(message.get("method", ""), message.get("params", {}))

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a file and wait until it is there."""
        self.ask("Page.navigate", url="about:blank")
        self.complaints.clear()
        self.requests.clear()
        self.ask("Page.navigate", url=f"{path.resolve().as_uri()}{fragment}")
        self.wait("document.readyState === 'complete' && document.querySelector('main').children.length > 0")

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, f"{expression}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Until an expression is true."""
        until = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < until, f"never: {condition}"
            time.sleep(0.02)

    def press(self, key: str) -> None:
        """A key goes down and up."""
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def look(self, *, width: int, height: int = 900, dark: bool = False) -> None:
        """How large the window is, and which colours its user prefers."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        # Two frames: what follows the width is painted in the first.
        self.run(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
        )

    def close(self) -> None:
        """Be done with it."""
        self._socket.close()

    def _note(self, event: str, about: dict[str, Any]) -> None:
        if event == "Runtime.exceptionThrown":
            self.complaints.append(str(about["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(about["args"]))
        elif event == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.complaints.append(about["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])


@contextmanager
def browser(folder: Path) -> Iterator[Tab]:
    """A browser with one tab and a profile of its own in a folder."""
    program = chromium()
    assert program is not None, "there is no Chromium"
    arguments = [
        program,
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
        "--remote-debugging-port=0",
        f"--user-data-dir={folder / 'profile'}",
        # Chromium's own sandbox refuses to work for root, as in most containers.
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        "about:blank",
    ]
    # Its own output goes to a file: a pipe that nobody reads would stop it.
    log = folder / "chromium.log"
    with log.open("wb") as written:
        process = subprocess.Popen(arguments, stdout=written, stderr=subprocess.STDOUT)
    try:
        tab = Tab(_address(log))
        try:
            yield tab
        finally:
            tab.close()
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def _address(log: Path) -> str:
    until = time.monotonic() + PATIENCE
    while True:
        found = re.search(r"DevTools listening on ws://([^/]+)/", log.read_text(errors="replace"))
        if found:
            break
        assert time.monotonic() < until, log.read_text(errors="replace")
        time.sleep(0.05)
    pages = httpx.get(f"http://{found[1]}/json/list", timeout=PATIENCE, trust_env=False).json()
    return str(next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page"))

"""A real browser for tests: its requests to other machines are refused and counted.

``page`` is a page of a fresh profile. Whatever it asks for that is not on this machine is refused
and stands in ``seen.outside``; what it complains of stands in ``seen.errors``. Both must be empty
when the test ends. Where there is no browser the tests are skipped, with the reason.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Route

SETTING = "AATOOLKIT_BROWSER"
"""The environment variable that names a Chromium, where it is not found by itself."""

INSTALL = 'pip install -e ".[browser]" brings it'
"""What the reason of a skipped test ends with."""

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # No name is looked up: what gets past the gate below finds nobody.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


@dataclass
class Seen:
    """What a page asked of other machines, and what it complained of."""

    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def chromium() -> str | None:
    """The browser to use, or None."""
    named = os.environ.get(SETTING)
    if named:
        return named
    names = ("/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


# Of a module, not of the session: while it runs, an event loop runs in this thread, which the
# tests of notebooks cannot do with.
@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A headless Chromium."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason=f"there is no playwright to drive a browser: {INSTALL}"
    )
    program = chromium()
    if program is None:
        pytest.skip(f"there is no Chromium to open pages in: install it, or name it in {SETTING}")
    home = tmp_path_factory.mktemp("browser")
    with playwright.sync_playwright() as engines:
        launched = engines.chromium.launch(
            executable_path=program,
            args=list(FLAGS),
            env={**os.environ, "HOME": str(home)},
            timeout=30_000,
        )
        yield launched
        launched.close()


@pytest.fixture
def seen() -> Seen:
    """What the test's page asked of other machines, and what it complained of."""
    return Seen()


@pytest.fixture
def page(browser: Browser, seen: Seen) -> Iterator[Page]:
    """A page of a fresh profile, on this machine alone."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)  # other tests run beside

    def gate(route: Route, request: Request) -> None:
        if is_here(request.url):
            route.continue_()
        else:
            seen.outside.append(request.url)
            route.abort()

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            seen.errors.append(f"{message.text} ({message.location.get('url', '')})")

    context.route("**/*", gate)
    context.on("console", on_console)
    context.on("weberror", lambda error: seen.errors.append(str(error.error)))
    page = context.new_page()
    yield page
    context.close()
    assert seen.outside == []
    assert seen.errors == []


def is_here(url: str) -> bool:
    """Whether an address is on this machine."""
    parts = urlsplit(url)
    return parts.scheme in ("data", "blob", "file", "about") or parts.hostname == "127.0.0.1"


@pytest.fixture
def shots() -> Path | None:
    """A folder for pictures of pages, where ``AATOOLKIT_SHOTS`` names one."""
    named = os.environ.get("AATOOLKIT_SHOTS")
    return Path(named) if named else None

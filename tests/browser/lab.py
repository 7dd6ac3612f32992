"""JupyterLab or Notebook on loopback: a server of its own folders, driven from the page."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

TOKEN = "token-of-one-test"

QUIET = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    }
}

ATTACHED = """async () => {
  await jupyterapp.restored;
  const { sessionContext } = jupyterapp.shell.currentWidget;
  await sessionContext.ready;
  await sessionContext.session.kernel.info;
}"""


PAGES = {"jupyterlab": "lab/tree", "notebook": "notebooks"}
"""Where a front end shows a notebook."""


@contextmanager
def serving(folder: Path, app: str = "jupyterlab") -> Iterator[str]:
    """A JupyterLab or Notebook that serves a folder; where it shows notebooks."""
    home = folder / ".jupyter"
    settings = home / "app"
    settings.mkdir(parents=True)
    (settings / "overrides.json").write_text(json.dumps(QUIET), encoding="utf-8")
    traits = {"jupyterlab": "LabApp", "notebook": "JupyterNotebookApp"}[app]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folders = (
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_DATA_DIR",
        "JUPYTER_RUNTIME_DIR",
        "JUPYTERLAB_SETTINGS_DIR",
        "JUPYTERLAB_WORKSPACES_DIR",
        "IPYTHONDIR",
    )
    with (folder / "lab.log").open("wb") as log:
        server = subprocess.Popen(
            [
                sys.executable,
                "-m",
                app,
                "--no-browser",
                "--allow-root",
                "--ServerApp.ip=127.0.0.1",
                f"--ServerApp.port={port}",
                "--ServerApp.port_retries=0",
                f"--IdentityProvider.token={TOKEN}",
                f"--ServerApp.root_dir={folder}",
                f"--{traits}.app_settings_dir={settings}",
                f"--{traits}.expose_app_in_browser=True",
                # Notebook has no such setting, and would drop all of its own for an unknown one.
                "--LabApp.extension_manager=readonly",
            ],
            env={**os.environ, **{name: str(home / name.lower()) for name in folders}},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _await(f"{url}/api?token={TOKEN}", server, folder / "lab.log")
        yield f"{url}/{PAGES[app]}"
    finally:
        server.terminate()
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(15)


def _await(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    opener = build_opener(ProxyHandler({}))
    until = time.monotonic() + 60
    while time.monotonic() < until and server.poll() is None:
        try:
            opener.open(url, timeout=5).close()
        except (URLError, OSError):
            time.sleep(0.1)
        else:
            return
    log_tail = log.read_text("utf-8", "replace")[-2000:]
    raise AssertionError(f"the server did not start:\n{log_tail}")


def write_notebook(path: Path, *cells: str) -> None:
    """A notebook of code cells."""
    notebook_cells = [
        {
            "cell_type": "code",
            "id": f"cell-{at}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": source,
        }
        for at, source in enumerate(cells)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    document = {"cells": notebook_cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(document), encoding="utf-8")


class Notebook:
    """A notebook that is open in a front end of `serving`."""

    def __init__(self, page: Any, url: str, name: str) -> None:
        self.page = page
        page.goto(f"{url}/{name}?token={TOKEN}")
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=60_000)
        page.evaluate(ATTACHED)

    def cell(self, at: int) -> Any:
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(at)

    def run(self, at: int) -> Any:
        """Run one cell; its outputs, once it is done."""
        self.page.evaluate(
            """async (at) => {
              const notebook = jupyterapp.shell.currentWidget.content;
              notebook.activeCellIndex = at;
              await jupyterapp.commands.execute("notebook:run-cell");
            }""",
            at,
        )
        return self.cell(at).locator(".jp-OutputArea").first

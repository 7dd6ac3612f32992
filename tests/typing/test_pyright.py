"""Pyright, which is also what VS Code completes with: names complete, mistyped ones are errors."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit.sections import Profile, typed_module

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(shutil.which("pyright") is None, reason="needs pyright on the PATH"),
]

HERE = Path(__file__).parent
SETTINGS: dict[str, Any] = {
    "extraPaths": [str(Path(aa.__file__).parent.parent)],
    "reportUnnecessaryTypeIgnoreComment": "error",
}


def checked(folder: Path, text: str) -> list[str]:
    """What pyright says of a file in a folder: the errors, as line and rule."""
    (folder / "use.py").write_text(text, encoding="utf-8")
    (folder / "pyrightconfig.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    done = subprocess.run(
        ["pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [
        f"{each['range']['start']['line'] + 1} {each['message'][:200]}"
        for each in found
        if each["severity"] == "error"
    ]


@pytest.fixture
def typed_folder(tmp_path: Path) -> Path:
    """A folder with the typed module of the reference."""
    module = typed_module(aa.sections.default_profile())
    (tmp_path / "reference_types.py").write_text(module, encoding="utf-8")
    return tmp_path


def test_a_mistyped_name_is_an_error_and_ordinary_pandas_is_none(typed_folder: Path) -> None:
    assert checked(typed_folder, (HERE / "usage.py").read_text(encoding="utf-8")) == []
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "use.py"],
        cwd=typed_folder,
        env={**os.environ, "MYPYPATH": SETTINGS["extraPaths"][0]},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_types_of_a_profile_of_ones_own(tmp_path: Path) -> None:
    answer = {"items": [{"id": "a", "n": 1, "größe": 1.5, 'a"b': True, "class": "x"}]}
    section = aa.sections.propose(answer, "things").section
    (tmp_path / "mine.py").write_text(typed_module(Profile("mine", section)), encoding="utf-8")
    found = checked(
        tmp_path,
        "import aatoolkit as aa\n"
        "from mine import typed\n"
        "main = typed(aa.project('acme.com', profile='mine.json')).read('things').main\n"
        "main['n'].sum() + main['größe'].mean()\n"
        "main['a_b'].all()\n"
        "main[['class', 'id']].aa.availability\n"
        "main['klass']\n",
    )
    assert {line.split()[0] for line in found} == {"7"}


def test_sections_tables_and_columns_complete(typed_folder: Path) -> None:
    chain = 'project.read("domains")["source_domain_engines"]["citation_count"]'
    text = (
        "import aatoolkit as aa\nfrom reference_types import typed\n"
        f"project = typed(aa.demo())\n{chain}\n"
    )
    (typed_folder / "pyrightconfig.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    with Editor(typed_folder, text).running() as editor:
        for name in ("domains", "source_domain_engines", "citation_count"):
            offered = editor.completions(3, chain.index(name))
            assert f'"{name}"' in offered, (name, offered[:30])
        assert '"citation_share"' not in offered


class Editor:
    """An editor with one open file, as far as it asks for completions."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder, self.text, self.request_id = folder, text, 0
        self.uri = (folder / "open.py").as_uri()
        (folder / "open.py").write_text(text, encoding="utf-8")

    @contextmanager
    def running(self) -> Iterator[Editor]:
        self.server = subprocess.Popen(
            ["pyright-langserver", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        try:
            root = self.folder.as_uri()
            self.request(
                "initialize",
                {
                    "processId": None,
                    "rootUri": root,
                    "workspaceFolders": [{"uri": root, "name": "root"}],
                    "capabilities": {"workspace": {"configuration": True}},
                },
            )
            self.send({"method": "initialized", "params": {}})
            document = {"uri": self.uri, "languageId": "python", "version": 1, "text": self.text}
            self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
            yield self
        finally:
            self.server.kill()
            self.server.communicate()

    def completions(self, line: int, column: int) -> list[str]:
        place = {"line": line, "character": column}
        params = {"textDocument": {"uri": self.uri}, "position": place}
        found = self.request("textDocument/completion", params)
        return [each["label"] for each in (found or {}).get("items", [])]

    def request(self, method: str, params: dict[str, Any]) -> Any:
        self.request_id += 1
        self.send({"id": self.request_id, "method": method, "params": params})
        while True:
            message = self.receive()
            if "method" in message and "id" in message:
                wants = message["params"].get("items", []) if message["params"] else []
                python = {"pythonPath": sys.executable}
                result = [python if each.get("section") == "python" else {} for each in wants]
                self.send({"id": message["id"], "result": result})
            elif message.get("id") == self.request_id:
                return message["result"]

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.server.stdin
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.server.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.server.stdout
        size = 0
        while line := self.server.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        assert size, "the language server ended"
        message: dict[str, Any] = json.loads(self.server.stdout.read(size))
        return message

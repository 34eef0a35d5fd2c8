"""`reference-manager mcp` as another program starts it: names, errors and files of its specification."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = [sys.executable, "-c", "import sys; from carrel.cli import reference_manager; sys.exit(reference_manager())"]


def talk(home: Path, *messages: dict[str, Any], arguments: tuple[str, ...] = (), **environment: str) -> dict[int, dict[str, Any]]:
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    done = subprocess.run(
        [*PROGRAM, "mcp", *arguments],
        input=lines,
        capture_output=True,
        text=True,
        cwd=home,
        env={**os.environ, "CARREL_HOME": str(home), "HOME": str(home), **environment},
        timeout=60,
        check=True,
    )
    return {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


@pytest.mark.promise("L1")
def test_the_tools_have_the_names_of_the_specification(tmp_path: Path) -> None:
    answers = talk(tmp_path, {"id": 1, "method": "tools/list"}, arguments=("--library", str(tmp_path / "lib.json")))
    names = {tool["name"] for tool in answers[1]["result"]["tools"]}
    assert {"search", "list", "add", "remove", "cite", "fulltext_attach", "fulltext_get", "fulltext_detach"} <= names


@pytest.mark.promise("L5")
def test_errors_are_json_rpc_errors(tmp_path: Path) -> None:
    answers = talk(
        tmp_path,
        call(1, "cite", ids=["smith2024"]),
        call(2, "cite", ids="smith2024"),
        {"id": 3, "method": "no/such"},
        {"id": 4, "method": "resources/read", "params": {"uri": "library://reference/smith2024"}},
        call(5, "nothing"),
        arguments=("--library", str(tmp_path / "lib.json")),
    )
    assert (answers[1]["error"]["code"], answers[1]["error"]["message"]) == (-32000, "Reference not found: smith2024")
    assert answers[2]["error"]["code"] == -32602
    assert answers[3]["error"]["code"] == -32601
    assert answers[4]["error"]["code"] == -32000
    assert answers[5]["error"]["code"] == -32602


@pytest.mark.promise("L1")
@pytest.mark.parametrize("way", ["flag", "environment", "config"])
def test_the_library_is_found_where_it_was_named(tmp_path: Path, way: str) -> None:
    library = tmp_path / "elsewhere.json"
    library.write_text('[{"id": "a", "type": "book", "title": "Here"}]', encoding="utf-8")
    arguments: tuple[str, ...] = ("--library", str(library)) if way == "flag" else ()
    environment = {"REFERENCE_MANAGER_LIBRARY": str(library)} if way == "environment" else {}
    if way == "config":
        (tmp_path / ".reference-manager.config.toml").write_text('library = "elsewhere.json"\n', encoding="utf-8")
    answers = talk(tmp_path, call(1, "list"), arguments=arguments, **environment)
    assert answers[1]["result"]["structuredContent"]["total"] == 1

"""`reference-manager mcp` as another program starts it: names, errors and files of its
specification.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes import warm

PROGRAM = [
    sys.executable,
    "-c",
    "import sys; from carrel.cli import run_reference_manager as run; sys.exit(run())",
]


def talk(
    home: Path, *messages: dict[str, Any], arguments: tuple[str, ...] = (), **environment: str
) -> dict[int, dict[str, Any]]:
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    done = warm.run(
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
    answers = talk(
        tmp_path,
        {"id": 1, "method": "tools/list"},
        arguments=("--library", str(tmp_path / "lib.json")),
    )
    names = {tool["name"] for tool in answers[1]["result"]["tools"]}
    assert {
        "search",
        "list",
        "add",
        "remove",
        "cite",
        "fulltext_attach",
        "fulltext_get",
        "fulltext_detach",
    } <= names


def test_texts_name_the_tools_that_there_are(tmp_path: Path) -> None:
    answers = talk(
        tmp_path,
        {"id": 1, "method": "tools/list"},
        call(2, "cite", ids=["smith2024"]),
        arguments=("--library", str(tmp_path / "lib.json")),
    )
    listed = json.dumps(answers[1]["result"]["tools"])
    assert "search_references" not in listed and "search finds them by collection" in listed
    step = answers[2]["error"]["data"]["error"]["next_step"]
    assert step == "Find the id with search."


@pytest.mark.promise("L5")
def test_errors_are_json_rpc_errors(tmp_path: Path) -> None:
    answers = talk(
        tmp_path,
        call(1, "cite", ids=["smith2024"]),
        call(2, "cite", ids=7),
        {"id": 3, "method": "no/such"},
        {"id": 4, "method": "resources/read", "params": {"uri": "library://reference/smith2024"}},
        call(5, "nothing"),
        arguments=("--library", str(tmp_path / "lib.json")),
    )
    assert (answers[1]["error"]["code"], answers[1]["error"]["message"]) == (
        -32000,
        "Reference not found: smith2024",
    )
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
        (tmp_path / ".reference-manager.config.toml").write_text(
            'library = "elsewhere.json"\n', encoding="utf-8"
        )
    answers = talk(tmp_path, call(1, "list"), arguments=arguments, **environment)
    assert answers[1]["result"]["structuredContent"]["total"] == 1


_OUTSIDER = """
import json, os, sys
path, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    try:
        items = json.load(open(path, encoding="utf-8"))
    except (ValueError, FileNotFoundError):
        continue
    items.append({"id": f"outsider-{number}", "type": "book", "title": f"Outside {number}"})
    with open(path + ".outsider", "w", encoding="utf-8") as file:
        json.dump(items, file)
    os.replace(path + ".outsider", path)
    print(f"outsider-{number}", flush=True)
"""


@pytest.mark.promise("L4")
def test_two_servers_and_a_program_that_knows_nothing_of_us_lose_nothing_under_kill(
    tmp_path: Path,
) -> None:
    library = tmp_path / "lib.json"
    library.write_text('[{"id": "first", "type": "book", "weird": 1.10}]', encoding="utf-8")
    environment = {**os.environ, "HOME": str(tmp_path)}

    def server(number: int) -> subprocess.Popen[bytes]:
        home = tmp_path / f"home-{number}"
        command = [*PROGRAM, "mcp", "--library", str(library)]
        pipe = subprocess.PIPE
        return warm.start(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            env={**environment, "CARREL_HOME": str(home)},
        )

    def add(process: subprocess.Popen[bytes], key: str) -> bool:
        """Whether the server said that it added the reference."""
        assert process.stdin is not None
        assert process.stdout is not None
        given = json.dumps(
            [{"id": key, "type": "book", "title": f"Title {key}", "author": [{"family": key}]}]
        )
        process.stdin.write(
            json.dumps({"jsonrpc": "2.0", **call(1, "add", input=given)}).encode() + b"\n"
        )
        process.stdin.flush()
        line = process.stdout.readline()
        return bool(line) and json.loads(line)["result"]["structuredContent"]["added"] != []

    outsider = warm.start(
        [sys.executable, "-c", _OUTSIDER, str(library), "60"], stdout=subprocess.PIPE, text=True
    )
    servers = [server(0), server(1)]
    promised = []
    for turn in range(12):
        for which in (0, 1):
            key = f"ours-{which}-{turn}"
            if add(servers[which], key):
                promised.append(key)
        if turn in {3, 7}:
            victim = turn % 2
            stdin = servers[victim].stdin
            assert stdin is not None
            given = json.dumps(
                [{"id": f"unsure-{turn}", "type": "book", "title": f"Unsure {turn}"}]
            )
            stdin.write(
                json.dumps({"jsonrpc": "2.0", **call(2, "add", input=given)}).encode() + b"\n"
            )
            stdin.flush()
            servers[victim].kill()
            servers[victim].wait(timeout=30)
            servers[victim] = server(victim)
    outside = outsider.communicate(timeout=60)[0].split()
    for each in servers:
        each.communicate(timeout=60)
    answers = talk(tmp_path, call(1, "list", limit=500), arguments=("--library", str(library)))
    ids = {item["id"] for item in answers[1]["result"]["structuredContent"]["references"]}
    assert len(promised) == 24
    assert set(promised) <= ids
    versions = (tmp_path / ".lib.json.carrel" / "versions").iterdir()
    backups = "".join(version.read_text(encoding="utf-8") for version in versions)
    assert [name for name in outside if name not in ids and f'"{name}"' not in backups] == []
    first = next(
        item for item in json.loads(library.read_text(encoding="utf-8")) if item["id"] == "first"
    )
    assert first == {"id": "first", "type": "book", "weird": 1.1}

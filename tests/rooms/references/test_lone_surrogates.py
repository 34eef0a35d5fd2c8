"""Halves of surrogate pairs, which another program may write as JSON escapes: they are read, shown
as U+FFFD, and kept in the file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from tests.processes import warm
from tests.rooms.references.test_alone import call

pytestmark = pytest.mark.promise("L9")
WRITTEN = (
    '[{"id": "bad2020", "type": "book", "title": "Bad \\ud83d surrogate",'
    ' "author": [{"family": "Half\\udc00", "given": "A"}], "note": "2\\u00b2",'
    ' "issued": {"date-parts": [[2020]]}, "custom": {"\\ud800": "\\ud83d\\ude00"}},'
    ' {"id": "good2021", "type": "book", "title": "Good \\ud83d\\ude00 pair"}]'
)
SHOWN = "Bad \ufffd surrogate"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    made = tmp_path / "lib.json"
    made.write_text(WRITTEN, encoding="utf-8")
    return made


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("list", "--json"),
        ("show", "bad2020"),
        ("show", "bad2020", "--json"),
        ("search", "surrogate"),
        ("search", "surrogate", "--json"),
        ("cite", "bad2020"),
        ("cite", "bad2020", "--style", "ieee", "--json"),
        ("browse",),
        ("files", "bad2020"),
        ("export", "--format", "bibtex"),
        ("export", "--format", "ris"),
        ("export", "--format", "csl-json"),
    ],
)
def test_commands_show_it(
    library: Path, capsysbinary: pytest.CaptureFixture[bytes], words: tuple[str, ...]
) -> None:
    status = main(["references", *words, "--library", str(library)])
    said = capsysbinary.readouterr()
    assert status == 0, said.err.decode()
    shown = said.out.decode() + said.err.decode()
    assert "bad2020" in shown if words[0] == "files" else "\ufffd surrogate" in shown
    assert library.read_text(encoding="utf-8") == WRITTEN


def talk_to_desk(library: Path, *messages: dict[str, Any]) -> dict[int, dict[str, Any]]:
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    program = "import sys; from carrel.cli import main; sys.exit(main())"
    words = ["mcp", "--rooms", "references,knowledge", "--library", str(library)]
    done = warm.run(
        [sys.executable, "-c", program, *words],
        input=lines.encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    return {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}


def test_tools_and_addresses_show_it(library: Path) -> None:
    def read(number: int, uri: str) -> dict[str, Any]:
        return {"id": number, "method": "resources/read", "params": {"uri": uri}}

    answers = talk_to_desk(
        library,
        call(1, "get_reference", id="bad2020"),
        call(2, "search_references", query="surrogate"),
        call(3, "export_references", format="csl-json"),
        call(4, "export_references", format="ris"),
        call(5, "cite_references", ids=["bad2020"]),
        call(6, "list_references"),
        read(7, "library://references"),
        read(8, "library://reference/bad2020"),
    )
    for number, answer in answers.items():
        assert "result" in answer, (number, answer)
        assert "\ufffd surrogate" in json.dumps(answer, ensure_ascii=False), number
    reference = answers[1]["result"]["structuredContent"]["reference"]
    assert reference["title"] == SHOWN
    assert reference["author"][0]["family"] == "Half\ufffd"
    assert "\U0001f600" in reference["custom"].values()
    assert library.read_text(encoding="utf-8") == WRITTEN

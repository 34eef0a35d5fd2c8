"""A recorded search is repeated without a network to the same answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from tests.services.literature.recorded import RecordedServices

JSON = {"content-type": "application/json"}
WORK = {
    "id": "https://openalex.org/W2741809807",
    "doi": "https://doi.org/10.7717/peerj.4375",
    "title": "The state of sea ice",
    "publication_year": 2018,
}
CONTACT = "jane.doe@uni-example.org"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CARREL_LITERATURE_CONTACT", CONTACT)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def search(capsys: pytest.CaptureFixture[str], query: str) -> tuple[int, Any, str]:
    capsys.readouterr()
    words = ["literature", "search", query, "--services", "openalex", "crossref", "--json"]
    code = main(words)
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out else None, said.err


def without_the_moment(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what is spent and left by asking, which a repetition does not do."""
    spent = {"cost_usd", "budget_left_usd", "resets_in_seconds"}
    for line in answer["coverage"]:
        for name in spent:
            line.pop(name, None)
        for sent in line.get("sent") or ():
            sent.pop("answered_by", None)
    return answer


@pytest.mark.promise("W1")
def test_a_recorded_search_is_repeated_to_the_same_answer_with_its_failures(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with RecordedServices(folder=tmp_path / "none") as outside:
        for name in ("openalex", "crossref"):
            monkeypatch.setenv(f"CARREL_LITERATURE_ADDRESSES_{name.upper()}", outside.url(name))
        listing = {"meta": {"count": 1, "next_cursor": None}, "results": [WORK]}
        outside.given |= {
            "/openalex/": (200, JSON, json.dumps(listing).encode()),
            "/crossref/": (429, {"retry-after": "3600"}, b""),
        }
        monkeypatch.setenv("CARREL_LITERATURE_MODE", "record")
        code, recorded, _ = search(capsys, "sea ice")
        assert code == 0
        assert len(outside.asked) == 2
    monkeypatch.setenv("CARREL_LITERATURE_MODE", "replay")
    monkeypatch.setenv("CARREL_NETWORK", "false")
    for _ in range(2):
        code, repeated, _ = search(capsys, "sea ice")
        assert code == 0
        sent = repeated["coverage"][0]["sent"][0]
        assert sent["answered_by"] == "recording"
        assert without_the_moment(repeated) == without_the_moment(recorded)
    crossref = repeated["coverage"][1]
    assert (crossref["state"], crossref["failure"]) == ("failed", "rate_limited")

    code, _, said = search(capsys, "another question")
    assert code == 5
    assert "No recording answers GET" in said
    kept = [path for path in home.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if CONTACT.encode() in path.read_bytes()]

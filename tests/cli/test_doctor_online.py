"""`carrel doctor --online` asks each literature service once, and only when asked to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.cli import main
from tests.services.literature.recorded import RecordedServices

JSON = {"content-type": "application/json"}
KEY = "s3cr3t-key-0123456789"
CONTACT = "jane.doe@uni-example.org"
WORK = {
    "id": "https://openalex.org/W2741809807",
    "doi": "https://doi.org/10.7717/peerj.4375",
    "title": "The state of OA",
    "publication_year": 2018,
}
CROSSREF = {"DOI": "10.7717/peerj.4375", "title": ["The state of OA"], "type": "journal-article"}
SERVICES = [
    "openalex",
    "crossref",
    "pubmed",
    "europepmc",
    "arxiv",
    "semantic_scholar",
    "dblp",
    "datacite",
    "doaj",
    "unpaywall",
    "opencitations",
    "biorxiv",
]


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordedServices]:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.chdir(tmp_path)
    with RecordedServices(folder=tmp_path / "none") as recorded:
        for name in SERVICES:
            monkeypatch.setenv(f"CARREL_LITERATURE_ADDRESSES_{name.upper()}", recorded.url(name))
        money = {"x-ratelimit-remaining-usd": "0.98", "x-ratelimit-cost-usd": "0"}
        message = {"status": "ok", "message": CROSSREF}
        recorded.given |= {
            "/openalex/": (200, {**JSON, **money}, json.dumps(WORK).encode()),
            "/crossref/": (200, {**JSON, "x-api-pool": "polite"}, json.dumps(message).encode()),
            "/pubmed/": (401, JSON, b'{"error": "API key invalid"}'),
            "/europepmc/": (200, {"content-type": "text/html"}, b"<html><body>Down</body></html>"),
            "/arxiv/": (429, {"content-type": "text/html"}, b"Rate exceeded."),
            "/semantic_scholar/": (403, JSON, b'{"message": "Forbidden"}'),
            "/dblp/": (503, {"retry-after": "3600"}, b""),
        }
        yield recorded


def findings(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, object]]:
    capsys.readouterr()
    main(["doctor", "--json", *words])
    facts = json.loads(capsys.readouterr().out)
    return {finding["name"]: finding for finding in facts["findings"]}


def test_nothing_is_asked_unless_it_is_asked_for(
    services: RecordedServices, capsys: pytest.CaptureFixture[str]
) -> None:
    found = findings(capsys)
    assert services.asked == []
    assert not [name for name in found if name.startswith("online")]


def test_where_the_network_is_forbidden_nothing_is_asked(
    services: RecordedServices,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CARREL_NETWORK", "false")
    assert main(["doctor", "--online"]) != 0
    assert "Settings forbid the network" in capsys.readouterr().err
    monkeypatch.setenv("CARREL_NETWORK", "true")
    monkeypatch.setenv("CARREL_LITERATURE_MODE", "replay")
    assert main(["doctor", "--online"]) != 0
    assert "CARREL_LITERATURE_MODE=live" in capsys.readouterr().err
    assert services.asked == []


def test_each_service_is_asked_and_what_failed_has_a_next_step(
    services: RecordedServices,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("CARREL_LITERATURE_CONTACT", CONTACT)
    for name in ("OPENALEX_API_KEY", "PUBMED_API_KEY"):
        monkeypatch.setenv(f"CARREL_LITERATURE_{name}", KEY)
    found = findings(capsys, "--online")
    online = {name.removeprefix("online: "): each for name, each in found.items() if ": " in name}
    assert online["OpenAlex"]["says"] == "reachable; key accepted; budget left $0.98"
    assert online["Crossref"]["says"] == (
        "reachable; asked without a key (literature.crossref_token); pool polite"
    )
    assert online["PubMed"]["action"] == "Check literature.pubmed_api_key."
    assert "web page in place of JSON" in str(online["Europe PMC"]["says"])
    assert "asked too often" in str(online["arXiv"]["says"])
    assert online["Semantic Scholar"]["is_well"]
    assert "literature.semantic_scholar_api_key" in str(online["Semantic Scholar"]["action"])
    assert "status 503" in str(online["dblp"]["says"])
    assert "does not know 10.48550/arxiv.1706.03762" in str(online["DataCite"]["says"])
    for name, each in online.items():
        assert each["is_well"] or each["action"], name
    asked = {each.path.split("/")[1] for each in services.asked}
    assert asked == set(SERVICES)
    kept = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    for content in (json.dumps(found).encode(), *(path.read_bytes() for path in kept)):
        assert KEY.encode() not in content
        assert CONTACT.encode() not in content
    assert not [path for path in kept if path.suffix == ".cached"], "nothing is kept of a probe"


def test_a_host_that_cannot_be_reached_is_told_as_that(
    services: RecordedServices,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CARREL_LITERATURE_ADDRESSES_DOAJ", "http://127.0.0.1:9")
    finding = findings(capsys, "--online")["online: DOAJ"]
    assert "cannot be reached" in str(finding["says"])
    assert "proxy" in str(finding["action"])

"""Texts and citations outside, typed: what is printed, and what a command leaves behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.cli import main
from tests.rooms.literature.test_outside_citations import ARTICLE, name_pair
from tests.rooms.literature.texts_outside import (
    TextsOutside,
    arxiv_entry,
    latexml_page,
    place,
    unpaywall_record,
)
from tests.services.literature.recorded import needs_recordings

pytestmark = [needs_recordings, pytest.mark.promise("W2")]
SENTENCE = "The zebrafish net learns quickly from seven words."


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TextsOutside]:
    with TextsOutside() as opened:
        home = tmp_path / "home"
        home.mkdir()
        literature = opened.settings(home).literature
        lines = [
            "[literature]",
            f"contact = {json.dumps(literature.contact)}",
            f"private_hosts = {json.dumps(list(literature.private_hosts))}",
            "[literature.addresses]",
            *(f"{name} = {json.dumps(url)}" for name, url in literature.addresses if url),
        ]
        (home / "carrel.toml").write_text("\n".join(lines), encoding="utf-8")
        monkeypatch.setenv("CARREL_HOME", str(home))
        yield opened


def typed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(list(words)) == code
    return capsys.readouterr().out


def test_a_text_is_printed_with_where_it_is_from_and_goes_into_the_corpus(
    outside: TextsOutside, capsys: pytest.CaptureFixture[str]
) -> None:
    outside.records["arxiv"] = arxiv_entry("2404.00001", "Nets that learn")
    page = latexml_page("Nets that learn", SENTENCE)
    outside.give("/arxiv-texts/html/2404.00001v2", page, "text/html")
    shown = typed(capsys, "literature", "fulltext", "2404.00001")
    assert SENTENCE in shown
    assert "licence: cc-by" in shown
    assert "version: submitted" in shown
    assert "not needed" in shown
    added = typed(capsys, "literature", "fulltext", "2404.00001", "--add-to-corpus")
    assert "added to the corpus as" in added
    assert SENTENCE in typed(capsys, "papers", "source", "arxiv:2404.00001")
    assert "submitted version, html, cc-by" in typed(capsys, "papers", "show", "2404.00001")


def test_a_text_that_is_not_had_is_printed_with_every_place(
    outside: TextsOutside, capsys: pytest.CaptureFixture[str]
) -> None:
    places = [place(f"{outside.base}/no.pdf", "publishedVersion")]
    places.append(place("https://sci-hub.se/a.pdf", "publishedVersion"))
    outside.records["unpaywall"] = unpaywall_record("10.5555/x", "Closed nets", *places)
    shown = typed(capsys, "literature", "fulltext", "10.5555/x")
    assert "none of 2 gave a text" in shown
    assert "nothing there" in shown
    assert "refused" in shown
    assert main(["literature", "fulltext", "nonsense"]) == 2


def test_citations_outside_are_printed_with_who_says_so(
    outside: TextsOutside, capsys: pytest.CaptureFixture[str]
) -> None:
    name_pair(outside)
    shown = typed(capsys, "papers", "citations", ARTICLE, "--outside")
    assert "It is cited by 3 works (opencitations 2)" in shown
    assert "said by crossref, opencitations" in shown
    assert "not asked" in shown

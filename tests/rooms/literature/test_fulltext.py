"""find_fulltext: refusals, the order of places, every format into the corpus, absences."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import (
    InsufficientPermissionsError,
    InvalidInputError,
    NotFoundError,
)
from carrel.policy.scopes import ALL_SCOPES
from carrel.rooms.literature.errors import LiteratureUnavailableError, NetworkForbiddenError
from tests.rooms.literature.desk import Reader, ask, coverage_of, play
from tests.rooms.literature.texts_outside import (
    JATS,
    TextsOutside,
    arxiv_entry,
    europepmc_record,
    jats,
    latexml_page,
    pdf,
    place,
    tex_archive,
    unpaywall_record,
)
from tests.services.literature.recorded import needs_recordings

pytestmark = [needs_recordings, pytest.mark.promise("W2")]
DOI = "10.5555/nets.1"
TITLE = "Nets That Learn From Few Words"
_MMPPOX = (
    "MmPPOX Inhibits Mycobacterium tuberculosis Lipolytic Enzymes Belonging to the "
    "Hormone-Sensitive Lipase Family and Alters Mycobacterial Growth"
)
_PHRASE = "very few have been characterized yet at a biochemical/pharmacological level"
SENTENCE = "The zebrafish net learns quickly from seven words."


@pytest.fixture
def outside() -> Iterator[TextsOutside]:
    with TextsOutside() as opened:
        yield opened


def _knows_pdf(outside: TextsOutside, *urls: str) -> None:
    places = [place(url, "publishedVersion") for url in urls]
    outside.records["unpaywall"] = unpaywall_record(DOI, TITLE, *places)


def _outcomes(answer: dict[str, Any]) -> list[str]:
    return [each["outcome"] for each in answer["places"]]


@pytest.mark.parametrize("missing", ["literature", "papers"])
def test_who_may_not_read_literature_or_write_papers_is_refused_and_nothing_leaves(
    outside: TextsOutside, tmp_path: Path, missing: str
) -> None:
    left = {scope for scope in ALL_SCOPES if scope.partition(":")[0] not in {missing, "admin"}}

    async def scene(reader: Reader) -> None:
        reader.scopes = left
        with pytest.raises(InsufficientPermissionsError):
            await reader.ask("find_fulltext", identifier=DOI, add_to_corpus=True)

    play(outside.settings(tmp_path), scene)
    assert not outside.asked


def test_settings_that_forbid_the_network_let_nothing_leave(
    outside: TextsOutside, tmp_path: Path
) -> None:
    settings = outside.settings(tmp_path).model_copy(update={"network": False})
    with pytest.raises(NetworkForbiddenError):
        ask(settings, "find_fulltext", identifier=DOI)
    assert not outside.asked


@pytest.mark.parametrize(
    "question",
    [
        {"identifier": "nets"},
        {"identifier": DOI, "format": "epub"},
        {"identifier": DOI, "offset": -1},
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(
    outside: TextsOutside, tmp_path: Path, question: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInputError):
        ask(outside.settings(tmp_path), "find_fulltext", **question)
    assert not outside.asked


def test_a_work_that_nobody_knows_is_not_found(outside: TextsOutside, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        ask(outside.settings(tmp_path), "find_fulltext", identifier=DOI)


def test_a_work_that_nobody_knows_is_not_called_unknown_while_a_service_is_silent(
    outside: TextsOutside, tmp_path: Path
) -> None:
    outside.faults["openalex"] = (401, {"content-type": "application/json"}, b'{"error": "key"}')
    with pytest.raises(LiteratureUnavailableError, match="OpenAlex"):
        ask(outside.settings(tmp_path), "find_fulltext", identifier=DOI)


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.8/paper.pdf",
        "http://[::ffff:127.0.0.1]/paper.pdf",
        "http://localhost:9/paper.pdf",
        "file:///etc/passwd",
        "https://sci-hub.se/10.5555/nets.1",
    ],
)
def test_a_redirect_to_a_private_address_or_a_pirate_is_not_followed(
    outside: TextsOutside, tmp_path: Path, target: str
) -> None:
    url = outside.give("/moved.pdf", b"")
    outside.files["/moved.pdf"] = (302, {"location": target}, b"")
    _knows_pdf(outside, url)
    answer = ask(outside.settings(tmp_path), "find_fulltext", identifier=DOI)
    assert _outcomes(answer) == ["refused"]
    assert answer["outcome"] == "not_had"
    assert "text_markdown" not in answer


@pytest.mark.parametrize(
    "url", ["https://sci-hub.se/x.pdf", "http://libgen.is/x.pdf", "ftp://example.org/x.pdf"]
)
def test_a_place_at_a_pirate_or_of_another_protocol_is_refused(
    outside: TextsOutside, tmp_path: Path, url: str
) -> None:
    _knows_pdf(outside, url)
    answer = ask(outside.settings(tmp_path), "find_fulltext", identifier=DOI)
    assert set(_outcomes(answer)) <= {"refused"}
    assert answer["outcome"] in {"not_had", "no_open_text"}


def test_a_login_page_that_calls_itself_a_pdf_is_no_text(
    outside: TextsOutside, tmp_path: Path
) -> None:
    page = b"<!DOCTYPE html><html><body><form>Sign in to your institution's account"
    page += b'<input type="password"></form></body></html>'
    _knows_pdf(outside, outside.give("/login.pdf", page, "application/pdf"))
    answer = ask(outside.settings(tmp_path), "find_fulltext", identifier=DOI, add_to_corpus=True)
    assert _outcomes(answer) == ["blocked"]
    assert answer["outcome"] == "not_had"
    assert "in_corpus" not in answer


def test_bombs_entities_and_broken_files_are_told_and_not_read(
    outside: TextsOutside, tmp_path: Path
) -> None:
    bomb = b"""<?xml version="1.0"?><!DOCTYPE article [<!ENTITY a "aaaaaaaaaa">
    <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><article><body><p>&b;</p></body></article>"""
    outside.records["europepmc"] = europepmc_record(DOI, "PMC77", TITLE)
    outside.give("/europepmc/PMC77/fullTextXML", bomb, "application/xml")
    outside.records["arxiv"] = arxiv_entry("2404.00077", TITLE, DOI)
    outside.give("/arxiv-texts/e-print/2404.00077v2", gzip.compress(bytes(60_000_000)))
    outside.give("/arxiv-texts/pdf/2404.00077v2", pdf("colrev-broken"), "application/pdf")
    settings = outside.settings(tmp_path)
    answer = ask(settings, "find_fulltext", identifier="arXiv:2404.00077")
    tried = {each["format"]: each["outcome"] for each in answer["places"]}
    assert tried["tex"] == "unreadable"
    assert tried["pdf"] == "unreadable"
    assert ask(settings, "find_fulltext", identifier=DOI)["outcome"] == "not_had"


def test_without_the_network_mode_nothing_is_downloaded(
    outside: TextsOutside, tmp_path: Path
) -> None:
    outside.records["arxiv"] = arxiv_entry("2404.00001", TITLE)
    ask_all = outside.settings(tmp_path)
    ask(ask_all, "get_work", identifier="arXiv:2404.00001")
    offline = outside.settings(tmp_path, mode="offline")
    answer = ask(offline, "find_fulltext", identifier="arXiv:2404.00001")
    assert set(_outcomes(answer)) == {"failed"}
    assert answer["outcome"] == "not_known"
    assert not outside.asked_of("arxiv-texts")


def test_no_open_text_is_said_only_where_every_service_answered(
    outside: TextsOutside, tmp_path: Path
) -> None:
    outside.records["unpaywall"] = unpaywall_record(DOI, TITLE)
    closed = ask(outside.settings(tmp_path / "a"), "find_fulltext", identifier=DOI)
    assert closed["outcome"] == "no_open_text"
    assert closed["places"] == []
    outside.faults["europepmc"] = (401, {"content-type": "application/json"}, b"{}")
    unknown = ask(outside.settings(tmp_path / "b"), "find_fulltext", identifier=DOI)
    assert unknown["outcome"] == "not_known"
    assert "europepmc" in unknown["message"]
    assert coverage_of(unknown, "europepmc")["state"] == "failed"
    assert coverage_of(unknown, "semantic_scholar")["state"] == "not_asked"


@pytest.mark.parametrize("name", sorted(path.name.split(".nxml")[0] for path in JATS.glob("*.gz")))
def test_jats_of_every_sample_is_read_with_sections_and_references(
    outside: TextsOutside, tmp_path: Path, name: str
) -> None:
    content = jats(name)
    title = re.search(rb"<article-title>(.*?)</article-title>", content, re.DOTALL)
    assert title is not None
    outside.records["europepmc"] = europepmc_record(DOI, "PMC77", title.group(1).decode())
    outside.give("/europepmc/PMC77/fullTextXML", content, "application/xml")
    answer = ask(
        outside.settings(tmp_path), "find_fulltext", identifier="PMC77", max_chars=1_000_000
    )
    assert answer["outcome"] == "found"
    assert answer["source"]["format"] == "jats"
    assert answer["source"]["version"] == "published"
    assert answer["source"]["licence"].startswith(("cc-", "public-domain"))
    text = answer["text_markdown"]
    assert text.startswith("# ")
    assert text.count("\n## ") >= 4
    assert "\n## References\n\n1. " in text


def _into_corpus(
    outside: TextsOutside, home: Path, sentence: str, **question: Any
) -> dict[str, Any]:
    """The answer, after the corpus was seen to find and to show a sentence of the text."""

    async def scene(reader: Reader) -> dict[str, Any]:
        answer: dict[str, Any] = await reader.ask(
            "find_fulltext", add_to_corpus=True, max_chars=1_000_000, **question
        )
        assert answer["outcome"] == "found", answer["places"]
        paper_id = answer["in_corpus"]["paper_id"]
        hits = await reader.ask("search_papers", query=f'"{sentence.rstrip(".")}"')
        assert [hit["paper_id"] for hit in hits] == [paper_id]
        source = await reader.ask("get_paper_source", paper_id=paper_id)
        assert sentence in source["body"]
        metadata = await reader.ask("get_paper_metadata", paper_id=paper_id)
        shown = metadata["text_origin"]
        for name in ("url", "format", "sha256", "retrieved_at"):
            assert shown[name] == answer["source"][name]
        assert shown.get("version") == answer["source"]["version"]
        assert shown.get("licence") == answer["source"]["licence"]
        if answer["source"]["licence"]:
            assert metadata["license"] == answer["source"]["licence"]
        return {**answer, "metadata": metadata}

    return play(outside.settings(home), scene)


def test_jats_comes_first_and_into_the_corpus(outside: TextsOutside, tmp_path: Path) -> None:
    doi, title = "10.1371/journal.pone.0046493", _MMPPOX
    record = europepmc_record(doi, "PMC3460867", title, id="23029536", pmid="23029536")
    outside.records["europepmc"] = record
    outside.give("/europepmc/PMC3460867/fullTextXML", jats("pone.0046493"), "application/xml")
    outside.records["unpaywall"] = unpaywall_record(
        doi, title, place(f"{outside.base}/a.pdf", "publishedVersion", "publisher")
    )
    answer = _into_corpus(outside, tmp_path, _PHRASE, identifier=doi)
    assert _outcomes(answer) == ["had", "not_tried"]
    assert answer["metadata"]["doi"] == doi
    assert answer["metadata"]["references"] > 40


def test_a_text_of_another_work_is_passed_over(outside: TextsOutside, tmp_path: Path) -> None:
    outside.records["europepmc"] = europepmc_record(DOI, "PMC77", TITLE)
    outside.give("/europepmc/PMC77/fullTextXML", jats("pone.0046493"), "application/xml")
    answer = ask(outside.settings(tmp_path), "find_fulltext", identifier=DOI, add_to_corpus=True)
    assert _outcomes(answer) == ["unreadable"]
    assert "another work" in answer["places"][0]["reason"]
    assert answer["outcome"] == "not_had"


@pytest.mark.parametrize(
    ("family", "title", "outcome"),
    [
        ("Hatcher", "Medieval tin mining in Cornwall and its taxation", "unreadable"),
        # A translated title, and one that is read wrongly, are the work's own.
        ("Ammar", "Bau des Literaturgraphen", "had"),
        ("Hatcher", "Construction of the Literature Graph: a Semantic Scholar report", "had"),
    ],
)
def test_a_pdf_that_names_neither_title_nor_people_is_another_work(
    outside: TextsOutside, tmp_path: Path, family: str, title: str, outcome: str
) -> None:
    url = outside.give("/files/paper.pdf", pdf("acl-N18-3011"), "application/pdf")
    record = unpaywall_record(DOI, title, place(url, "acceptedVersion"))
    outside.records["unpaywall"] = {**record, "z_authors": [{"given": "A.", "family": family}]}
    answer = ask(outside.settings(tmp_path), "find_fulltext", identifier=DOI)
    assert _outcomes(answer) == [outcome]


def test_html_of_arxiv_comes_into_the_corpus_with_its_maths(
    outside: TextsOutside, tmp_path: Path
) -> None:
    outside.records["arxiv"] = arxiv_entry("2404.00001", TITLE)
    page = latexml_page(TITLE, SENTENCE)
    outside.give("/arxiv-texts/html/2404.00001v2", page, "text/html")
    answer = _into_corpus(outside, tmp_path, SENTENCE, identifier="2404.00001")
    assert answer["source"]["format"] == "html"
    assert answer["source"]["version"] == "submitted"
    assert answer["source"]["licence"] == "cc-by"
    assert r"$x_{i}\leq 3$" in answer["text_markdown"]
    assert answer["metadata"]["arxiv_id"] == "2404.00001"
    assert answer["metadata"]["authors"] == ["Ada Lovelace"]
    assert _outcomes(answer) == ["had", "not_tried", "not_tried"]


def test_the_source_is_read_where_there_is_no_html(outside: TextsOutside, tmp_path: Path) -> None:
    outside.records["arxiv"] = arxiv_entry("2404.00001", TITLE)
    archive = tex_archive(TITLE, SENTENCE, **{"../evil.tex": r"\documentclass{x} evil"})
    outside.give("/arxiv-texts/e-print/2404.00001v2", archive, "application/gzip")
    answer = _into_corpus(outside, tmp_path, SENTENCE, identifier="10.48550/arXiv.2404.00001")
    assert _outcomes(answer) == ["absent", "had", "not_tried"]
    assert answer["source"]["format"] == "tex"
    assert r"Let $\mathcal{N}$ be a net [1]." in answer["text_markdown"]
    assert "1. J. Ba. Layer normalization. 2016." in answer["text_markdown"]
    assert answer["metadata"]["references"] == 1


def test_the_preprint_is_read_where_the_article_is_asked_for(
    outside: TextsOutside, tmp_path: Path
) -> None:
    outside.records["crossref"] = {
        "DOI": DOI,
        "title": [TITLE],
        "type": "journal-article",
        "container-title": ["Journal of Nets"],
        "author": [{"family": "Lovelace", "given": "Ada"}],
        "issued": {"date-parts": [[2024, 6, 1]]},
        "relation": {"has-preprint": [{"id-type": "doi", "id": "10.48550/arXiv.2404.00001"}]},
    }
    outside.records["arxiv"] = arxiv_entry("2404.00001", TITLE, DOI)
    page = latexml_page(TITLE, SENTENCE)
    outside.give("/arxiv-texts/html/2404.00001v2", page, "text/html")
    answer = _into_corpus(outside, tmp_path, SENTENCE, identifier=DOI)
    assert answer["source"]["version"] == "submitted"
    assert answer["metadata"]["doi"] == DOI
    assert answer["metadata"]["venue"] == "Journal of Nets"


def test_published_pdfs_come_before_accepted_ones_and_what_blocks_is_passed(
    outside: TextsOutside, tmp_path: Path
) -> None:
    closed = outside.give("/closed.pdf", b"no", "text/plain", status=403)
    good = outside.give("/good.pdf", pdf("acl-N18-3011"), "application/pdf")
    outside.records["unpaywall"] = unpaywall_record(
        DOI,
        "Construction of the Literature Graph in Semantic Scholar",
        place(f"{outside.base}/draft.pdf", "submittedVersion"),
        place(good, "acceptedVersion"),
        place(closed, "publishedVersion", "publisher"),
    )
    sentence = (
        "We describe a deployed scalable system for organizing published scientific literature"
    )
    answer = _into_corpus(outside, tmp_path, sentence, identifier=DOI)
    assert _outcomes(answer) == ["blocked", "had", "not_tried"]
    assert answer["source"]["version"] == "accepted"
    assert answer["metadata"]["doi"] == DOI
    assert answer["metadata"]["references"] > 20


def test_a_landing_page_leads_to_the_file_that_it_names(
    outside: TextsOutside, tmp_path: Path
) -> None:
    outside.give("/files/paper.pdf", pdf("acl-N18-3011"), "application/pdf")
    page = b'<html><head><meta name="citation_pdf_url" content="/files/paper.pdf"></head></html>'
    url = outside.give("/page", page, "text/html")
    title = "Construction of the Literature Graph in Semantic Scholar"
    outside.records["unpaywall"] = unpaywall_record(
        DOI, title, place(url, "publishedVersion", url_for_pdf=None, url_for_landing_page=url)
    )
    answer = ask(outside.settings(tmp_path), "find_fulltext", identifier=DOI, format="pdf")
    assert answer["outcome"] == "found"
    assert answer["source"]["url"] == f"{outside.base}/files/paper.pdf"


def test_reading_on_asks_nobody_again(outside: TextsOutside, tmp_path: Path) -> None:
    outside.records["arxiv"] = arxiv_entry("2404.00001", TITLE)
    outside.give("/arxiv-texts/html/2404.00001v2", latexml_page(TITLE, SENTENCE), "text/html")
    settings = outside.settings(tmp_path)
    first = ask(settings, "find_fulltext", identifier="2404.00001", max_chars=400)
    count = len(outside.asked)
    second = ask(settings, "find_fulltext", identifier="2404.00001", offset=first["next_offset"])
    assert len(outside.asked) == count
    whole = ask(settings, "find_fulltext", identifier="2404.00001", max_chars=100_000)
    assert first["text_markdown"] + second["text_markdown"] == whole["text_markdown"]
    assert "nothing was asked again" in second["message"]


def test_a_text_joins_the_paper_that_the_corpus_has(outside: TextsOutside, tmp_path: Path) -> None:
    outside.records["arxiv"] = arxiv_entry("2404.00001", TITLE)
    outside.give("/arxiv-texts/html/2404.00001v2", latexml_page(TITLE, SENTENCE), "text/html")

    async def scene(reader: Reader) -> None:
        markdown = f"---\ntitle: {TITLE}\narxiv_id: 2404.00001\nauthors: [Ada Lovelace]\n---\n"
        known = await reader.ask("add_paper", markdown=markdown)
        answer = await reader.ask(
            "find_fulltext", identifier="2404.00001", add_to_corpus=True, max_chars=10
        )
        assert answer["in_corpus"]["is_new"] is False
        assert answer["in_corpus"]["paper_id"] == known["paper_id"]
        again = await reader.ask("find_fulltext", identifier="2404.00001", add_to_corpus=True)
        assert again["in_corpus"]["paper_id"] == known["paper_id"]

    play(outside.settings(tmp_path), scene)


def test_found_works_come_with_their_texts_in_one_call(
    outside: TextsOutside, tmp_path: Path
) -> None:
    outside.records["arxiv"] = arxiv_entry("2404.00001", TITLE)
    outside.give("/arxiv-texts/html/2404.00001v2", latexml_page(TITLE, SENTENCE), "text/html")

    async def scene(reader: Reader) -> None:
        added = await reader.ask(
            "add_works", identifiers=["arxiv:2404.00001"], into="papers", with_fulltext=True
        )
        (work,) = added["works"]
        assert work["text"] == "submitted version, html, cc-by"
        source = await reader.ask("get_paper_source", paper_id=work["paper_id"])
        assert SENTENCE in source["body"]

    play(outside.settings(tmp_path), scene)

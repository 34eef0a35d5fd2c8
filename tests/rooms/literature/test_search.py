"""search_literature: refusals, coverage, merged works, and what a search costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.core.errors import InsufficientPermissionsError, InvalidInputError
from carrel.policy.scopes import ALL_SCOPES
from carrel.rooms.literature.errors import LiteratureUnavailableError, NetworkForbiddenError
from tests.rooms.literature.desk import Reader, ask, coverage_of, play
from tests.rooms.literature.outside import CHEMCROW, REACTIONS, XGEN, Outside, names
from tests.services.literature.recorded import needs_recordings

pytestmark = [needs_recordings, pytest.mark.promise("W1")]
TWO = ("openalex", "crossref")


@pytest.fixture
def outside() -> Iterator[Outside]:
    with Outside() as opened:
        yield opened


def test_a_caller_without_the_scope_is_refused_and_nothing_leaves(
    outside: Outside, tmp_path: Path
) -> None:
    async def scene(reader: Reader) -> None:
        reader.scopes = ALL_SCOPES - {"literature:read", "literature:write", "admin"}
        with pytest.raises(InsufficientPermissionsError):
            await reader.ask("search_literature", query="chemistry")

    play(outside.settings(tmp_path), scene)
    assert not outside.asked


@pytest.mark.promise("W3")
def test_settings_that_forbid_the_network_let_nothing_leave(
    outside: Outside, tmp_path: Path
) -> None:
    settings = outside.settings(tmp_path).model_copy(update={"network": False})
    with pytest.raises(NetworkForbiddenError):
        ask(settings, "search_literature", query="chemistry")
    with pytest.raises(NetworkForbiddenError):
        ask(settings, "get_work", identifier=XGEN)
    assert not outside.asked


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"query": " "}, "no words"),
        ({"query": "x", "services": ["scihub"]}, "scihub"),
        ({"query": "x", "services": ["unpaywall"]}, "cannot be searched"),
        ({"query": "x", "page": 3, "limit": 100}, "200 works"),
        ({"query": "x", "limit": 101}, "limit"),
        ({"query": "x", "order": "random"}, "order"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(
    outside: Outside, tmp_path: Path, question: dict[str, object], said: str
) -> None:
    with pytest.raises(InvalidInputError, match=said):
        ask(outside.settings(tmp_path), "search_literature", **question)
    assert not outside.asked


def test_records_of_two_services_are_one_work_and_its_preprint_stays_one_of_its_own(
    outside: Outside, tmp_path: Path
) -> None:
    settings = outside.settings(tmp_path, services=TWO)
    answer = ask(settings, "search_literature", query="language models chemistry", origins=True)
    assert answer["outcome"] == "found"
    found = {work["id"]: work for work in answer["works"]}
    article = found[f"doi:{CHEMCROW}"]
    assert article["found_by"] == {"openalex": 1, "crossref": 1}
    assert set(article["citations"]) == {"openalex", "crossref"}
    assert article["origins"]["title"] == "crossref"
    assert article["origins"]["ids.openalex"] == "openalex"
    (version,) = article["versions"]
    assert version["relation"] == "preprint"
    assert version["id"] in found
    assert "**chemistry**" in article["snippet_markdown"]
    assert names(answer["works"])[0] == f"doi:{CHEMCROW}"


def test_coverage_says_what_was_asked_what_it_cost_and_what_left(
    outside: Outside, tmp_path: Path
) -> None:
    settings = outside.settings(tmp_path, services=TWO, openalex_api_key="topsecret-key-1234")
    answer = ask(settings, "search_literature", query="language models chemistry -biology")
    line = coverage_of(answer, "openalex")
    assert line["state"] == "answered"
    assert (line["total"], line["returned"], line["new"]) == (1234, 4, 2)
    assert (line["cost_usd"], line["budget_left_usd"]) == (0.001, 0.85)
    assert "chemistry" in line["query"]
    assert [sent["answered_by"] for sent in line["sent"]] == ["service"]
    assert "topsecret" not in str(answer) and "me@example.org" not in str(answer)
    assert "topsecret-key-1234" in outside.asked_of("openalex")[0].path
    assert coverage_of(answer, "crossref")["not_expressed"]
    unasked = coverage_of(answer, "dblp")
    assert unasked["state"] == "not_asked" and unasked["reason"]
    without_key = ask(outside.settings(tmp_path), "search_literature", query="x", services=[])
    assert "key" in coverage_of(without_key, "semantic_scholar")["reason"]


def test_the_same_search_again_comes_from_the_cache_and_costs_nothing(
    outside: Outside, tmp_path: Path
) -> None:
    settings = outside.settings(tmp_path, services=TWO)
    first = ask(settings, "search_literature", query="chemistry")
    asked = len(outside.asked)
    again = ask(settings, "search_literature", query="chemistry")
    assert len(outside.asked) == asked
    line = coverage_of(again, "openalex")
    assert line.get("cost_usd", 0) == 0
    assert line["sent"][0]["answered_by"] == "cache"
    assert (
        line["sent"][0]["answered_at"] == coverage_of(first, "openalex")["sent"][0]["answered_at"]
    )
    assert names(again["works"]) == names(first["works"])


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (200, b"<html>down</html>", "unreadable"),
        (200, b"", "unreadable"),
        (200, b'{"message": {"items": [', "unreadable"),
        (429, b"Rate exceeded.", "rate_limited"),
        (500, b"", "failed"),
        (401, b"{}", "key_refused"),
    ],
)
def test_a_service_that_fails_is_named_and_the_others_still_answer(
    outside: Outside, tmp_path: Path, status: int, body: bytes, failure: str
) -> None:
    kind = "text/html" if body.startswith(b"<") else "application/json"
    outside.faults["crossref"] = (status, {"content-type": kind}, body)
    answer = ask(
        outside.settings(tmp_path, services=TWO), "search_literature", query="chemistry tools"
    )
    assert answer["outcome"] == "found" and answer["works"]
    line = coverage_of(answer, "crossref")
    assert line["state"] == "failed" and line["failure"] == failure and line["reason"]
    assert "Crossref" in answer["message"]


def test_nothing_found_is_said_only_if_every_service_answered(
    outside: Outside, tmp_path: Path
) -> None:
    settings = outside.settings(tmp_path, services=TWO)
    nothing = ask(settings, "search_literature", query="chemistry year:1805")
    assert nothing["outcome"] == "nothing_found" and not nothing["works"]
    outside.faults["crossref"] = (503, {}, b"")
    unknown = ask(settings, "search_literature", query="chemistry year:1806")
    assert unknown["outcome"] == "not_known"
    assert unknown["message"].startswith("Not known: Crossref did not answer")


def test_if_no_service_answers_it_is_an_error_with_every_reason(
    outside: Outside, tmp_path: Path
) -> None:
    outside.faults = {name: (401, {"content-type": "application/json"}, b"{}") for name in TWO}
    settings = outside.settings(tmp_path, services=TWO, openalex_api_key="wrong-key-of-mine")
    with pytest.raises(LiteratureUnavailableError) as caught:
        ask(settings, "search_literature", query="chemistry")
    lines = caught.value.details["coverage"]
    assert isinstance(lines, list)
    assert {line["service"] for line in lines if line["state"] == "failed"} == set(TWO)
    assert caught.value.next_step
    assert "wrong-key" not in str(caught.value.to_facts())


def test_a_search_that_would_cost_more_than_allowed_is_not_asked(
    outside: Outside, tmp_path: Path
) -> None:
    settings = outside.settings(tmp_path, services=TWO, max_cost_usd=0.0005)
    answer = ask(settings, "search_literature", query="chemistry")
    line = coverage_of(answer, "openalex")
    assert line["state"] == "not_asked" and "max_cost_usd" in line["reason"]
    assert not outside.asked_of("openalex")
    assert coverage_of(answer, "crossref")["state"] == "answered"


def test_a_deeper_page_that_takes_two_requests_costs_twice(
    outside: Outside, tmp_path: Path
) -> None:
    settings = outside.settings(tmp_path, services=TWO, max_cost_usd=0.0015)
    near = ask(settings, "search_literature", query="chemistry", limit=100)
    assert coverage_of(near, "openalex")["state"] == "answered"
    far = ask(settings, "search_literature", query="chemistry", limit=100, page=2)
    assert coverage_of(far, "openalex")["state"] == "not_asked"


def test_the_price_of_the_last_answer_decides_what_the_next_may_cost(
    outside: Outside, tmp_path: Path
) -> None:
    """A key may pay less or more than the documentation says."""

    async def scene(reader: Reader) -> None:
        await reader.ask("search_literature", query="chemistry")
        again = await reader.ask("search_literature", query="biology")
        assert coverage_of(again, "openalex")["state"] == "not_asked"

    dear = {"x-ratelimit-cost-usd": "0.5", "content-type": "application/json"}
    body = b'{"meta": {"count": 0, "next_cursor": null}, "results": []}'
    outside.faults["openalex"] = (200, dear, body)
    play(outside.settings(tmp_path, services=TWO, max_cost_usd=0.01), scene)


def test_order_and_preprints_are_as_asked(outside: Outside, tmp_path: Path) -> None:
    settings = outside.settings(tmp_path, services=TWO)
    newest = ask(settings, "search_literature", query="chemistry", order="newest")
    years = [work["year"] for work in newest["works"]]
    assert years == sorted(years, reverse=True)
    cited = ask(settings, "search_literature", query="chemistry", order="most_cited")
    counts = [max(work["citations"].values()) for work in cited["works"]]
    assert counts == sorted(counts, reverse=True)
    published = ask(settings, "search_literature", query="chemistry", include_preprints=False)
    assert all(work["kind"] != "preprint" for work in published["works"])


def test_pages_of_one_search_do_not_overlap(outside: Outside, tmp_path: Path) -> None:
    settings = outside.settings(tmp_path, services=TWO)
    first = ask(settings, "search_literature", query="chemistry", limit=2)
    second = ask(settings, "search_literature", query="chemistry", limit=2, page=2)
    assert first["total"] == second["total"] == 4
    assert not set(names(first["works"])) & set(names(second["works"]))
    past = ask(settings, "search_literature", query="chemistry", limit=2, page=9)
    assert not past["works"] and past["outcome"] == "found" and "past the end" in past["message"]


def test_what_corpus_and_library_have_is_marked(outside: Outside, tmp_path: Path) -> None:
    async def scene(reader: Reader) -> None:
        await reader.ask("add_references", input=[f'[{{"DOI": "{XGEN}", "title": "Prime"}}]'])
        # Without an identifier, but the same by title, people and year.
        paper = await reader.ask(
            "add_paper",
            markdown="---\ntitle: Augmenting large language models with chemistry tools\n"
            "authors: [Andres M. Bran, Sam Cox, Oliver Schilter]\nyear: 2024\n---\n\n# Text\n\nHi.",
        )
        answer = await reader.ask("search_literature", query="chemistry")
        found = {work["id"]: work for work in answer["works"]}
        assert found[f"doi:{CHEMCROW}"]["in_corpus"] == paper["paper_id"]
        assert found[f"doi:{XGEN}"]["in_library"]
        assert "in_library" not in found[f"doi:{REACTIONS}"]
        reader.scopes = {"literature:read"}
        unmarked = await reader.ask("search_literature", query="chemistry")
        assert "in_corpus" not in str(unmarked["works"])
        assert any("papers:read" in notice for notice in unmarked["notices"])

    play(outside.settings(tmp_path, services=TWO), scene)


@pytest.mark.promise("W3")
def test_a_recorded_search_is_repeated_word_for_word_without_the_services(
    outside: Outside, tmp_path: Path
) -> None:
    folder = tmp_path / "recordings"
    live = outside.settings(tmp_path / "a", services=TWO, mode="record", recordings=folder)
    ask(live, "search_literature", query="chemistry tools")
    asked = len(outside.asked)
    replay = outside.settings(tmp_path / "b", services=TWO, mode="replay", recordings=folder)
    replay = replay.model_copy(update={"network": False})
    first = ask(replay, "search_literature", query="chemistry tools")
    assert first["works"]
    assert first == ask(replay, "search_literature", query="chemistry tools")
    assert len(outside.asked) == asked
    assert coverage_of(first, "openalex")["sent"][0]["answered_by"] == "recording"
    with pytest.raises(LiteratureUnavailableError, match="record"):
        ask(replay, "search_literature", query="something that was never asked")

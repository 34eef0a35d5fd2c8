"""Corrections of papers, the same at every door, and each undone again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.journeys.doors import Door, Failed, Said

pytestmark = pytest.mark.promise("P15")


def said(answer: Said | Failed) -> Any:
    assert isinstance(answer, Said), answer
    return answer.value


def two_papers(ask: Door) -> tuple[dict[str, Any], dict[str, Any]]:
    first, second = said(ask.ask("search_papers", query="research", limit=2))
    return first, second


def test_a_field_is_set_shown_and_taken_back(ask: Door) -> None:
    hit, _ = two_papers(ask)
    paper_id = hit["paper_id"]
    done = said(
        ask.ask("edit_paper", action="edit", paper_id=paper_id, title="Set by hand", year=1999)
    )
    assert [change["field"] for change in done["changes"]] == ["title", "date"]
    shown = said(ask.ask("get_paper_metadata", paper_id=paper_id))
    assert (shown["title"], shown["year"]) == ("Set by hand", "1999")
    assert shown["origins"]["title"] == {"origin": "person", "confidence": 1.0}
    assert "1999" in said(ask.ask("get_paper_bibtex", paper_id=paper_id))
    history = said(ask.ask("paper_history", paper_id=paper_id))
    assert history["version"] == done["papers"][0]["version"]
    assert history["decisions"][0]["number"] == done["decision"]
    said(ask.ask("edit_paper", action="undo", number=done["decision"]))
    assert said(ask.ask("get_paper_metadata", paper_id=paper_id))["title"] == hit["title"]


def test_two_papers_become_one_and_two_again(ask: Door) -> None:
    first, second = two_papers(ask)
    kept, other = first["paper_id"], second["paper_id"]
    rehearsed = said(
        ask.ask("edit_paper", action="merge", paper_id=kept, papers=[other], dry_run=True)
    )
    assert (rehearsed["decision"], [each["paper_id"] for each in rehearsed["papers"]]) == (
        None,
        [kept],
    )
    done = said(ask.ask("edit_paper", action="merge", paper_id=kept, papers=[other]))
    merged = said(ask.ask("get_paper_metadata", paper_id=other))
    assert (merged["paper_id"], merged["former_ids"]) == (kept, [other])
    said(ask.ask("edit_paper", action="undo", number=done["decision"]))
    assert said(ask.ask("get_paper_metadata", paper_id=other))["title"] == second["title"]


def test_what_does_not_fit_is_refused_and_changes_nothing(ask: Door) -> None:
    hit, _ = two_papers(ask)
    paper_id = hit["paper_id"]
    for arguments in (
        {"action": "edit", "paper_id": paper_id, "doi": "not a doi"},
        {"action": "edit", "paper_id": paper_id, "year": 999},
        {"action": "edit", "paper_id": paper_id},
        {"action": "merge", "paper_id": paper_id},
        {"action": "undo", "title": "x"},
    ):
        answer = ask.ask("edit_paper", **arguments)
        assert isinstance(answer, Failed)
        assert answer.means("invalid_input")
    missing = ask.ask("edit_paper", action="remove", paper_id="nobody-wrote-this")
    assert isinstance(missing, Failed)
    assert missing.means("paper_not_found")
    none = ask.ask("edit_paper", action="undo", number=999_999)
    assert isinstance(none, Failed)
    assert none.means("decision_not_found")
    stale = ask.ask(
        "edit_paper", action="remove", paper_id=paper_id, expected_version="0123456789ab"
    )
    assert isinstance(stale, Failed)
    assert stale.means("paper_changed")
    assert said(ask.ask("get_paper_metadata", paper_id=paper_id))["title"] == hit["title"]

"""Research that looks beyond the corpus: what services find joins it, bounds novelty, is told."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from carrel.core.errors import CarrelError
from carrel.settings import Settings
from tests.libraries.discovery.small_corpus import GOAL, small_papers
from tests.loopback_server import Asked, Canned, LoopbackServer
from tests.rooms.research.house import Asker, other, visit


@dataclass
class Outside(LoopbackServer):
    """A service that speaks OpenAlex's format and one that is down, on one local server."""

    asked: list[str] = field(default_factory=list)
    # A paper that links the two ends which never meet in the small corpus.
    knows_the_link: bool = False

    def answer(self, asked: Asked) -> Canned:
        parts = urlsplit(asked.path)
        self.asked.append(asked.path)
        if not parts.path.startswith("/openalex"):
            return 503, {}, b""
        query = parse_qs(parts.query)
        words = " ".join(query.get("search", []) + query.get("filter", []))
        found = self.works(re.sub(r"[a-z_.]+search[a-z_.]*:|\bAND\b|[\",()]", " ", words))
        meta = {"count": len(found), "cost_usd": 0.001}
        body = json.dumps({"meta": meta, "results": found, "group_by": []}).encode()
        return 200, {"content-type": "application/json"}, body

    def works(self, words: str) -> list[dict[str, Any]]:
        wanted = words.lower().split()
        papers = [(p.title, p.abstract, p.year or 2000, p.keywords) for p in small_papers()]
        if self.knows_the_link:
            text = "We found that marine oil relieves cold finger disease in a randomized trial."
            keywords = ("marine oil", "cold finger disease")
            papers.append(("Marine oil relieves cold finger disease", text, 2019, keywords))
        return [
            _openalex(number, *paper)
            for number, paper in enumerate(papers, 1)
            if all(each in f"{paper[0]} {paper[1]}".lower() for each in wanted)
        ]


def _openalex(
    number: int, title: str, abstract: str, year: int, keywords: tuple[str, ...]
) -> dict[str, Any]:
    index: dict[str, list[int]] = {}
    for place, word in enumerate(abstract.split()):
        index.setdefault(word, []).append(place)
    return {
        "id": f"https://openalex.org/W{number}",
        "doi": f"https://doi.org/10.1234/outside.{number}",
        "ids": {"openalex": f"https://openalex.org/W{number}"},
        "title": title,
        "display_name": title,
        "publication_year": year,
        "publication_date": f"{year}-01-01",
        "type": "article",
        "language": "en",
        "authorships": [{"author": {"display_name": f"Ann Author{number}"}}],
        "abstract_inverted_index": index,
        "primary_location": {"source": {"display_name": "Journal of Fingers"}},
        "locations": [],
        "keywords": [{"id": "", "display_name": each, "score": 0.5} for each in keywords],
        "cited_by_count": 1,
        "referenced_works": [],
    }


def settings_outside(home: Path, outside: Outside, **more: Any) -> Settings:
    return Settings.model_validate(
        {
            "home": home,
            "rooms": ("papers", "references", "literature", "research"),
            "limits": {"per_minute": 100_000, "burst": 100_000},
            "literature": {
                "services": ("openalex", "crossref"),
                "addresses": {
                    "openalex": f"{outside.base}/openalex",
                    "crossref": f"{outside.base}/down",
                },
                "timeout_seconds": 5,
            },
            **more,
        }
    )


@pytest.mark.promise("W1")
def test_looking_outside_needs_the_scopes_the_room_and_the_network(tmp_path: Path) -> None:
    asked = {"goal": GOAL, "hypothesis_count": 3, "look_outside": True}

    async def without_scope(asker: Asker) -> None:
        eve = other(asker, "eve", frozenset({"research:write", "literature:read"}))
        with pytest.raises(CarrelError, match="papers:write"):
            await eve.ask("start_research", **asked)

    async def without_network(asker: Asker) -> None:
        with pytest.raises(CarrelError) as refused:
            await asker.ask("start_research", **asked)
        assert refused.value.code == "network_forbidden"

    async def without_room(asker: Asker) -> None:
        with pytest.raises(CarrelError) as refused:
            await asker.ask("start_research", **asked)
        assert refused.value.code == "not_configured"

    with Outside() as outside:
        visit(settings_outside(tmp_path / "a", outside), without_scope)
        visit(settings_outside(tmp_path / "b", outside, network=False), without_network)
        rooms = ("papers", "research")
        visit(settings_outside(tmp_path / "c", outside, rooms=rooms), without_room)
        assert outside.asked == []


@pytest.mark.promise("W1")
def test_an_empty_desk_finds_its_papers_outside_and_the_report_says_where(tmp_path: Path) -> None:
    async def story(asker: Asker) -> None:
        started = await asker.ask(
            "start_research", goal=GOAL, hypothesis_count=3, look_outside=True
        )
        status = await asker.finished(started.research_id)
        assert status.status == "completed", status.problem
        hits = await asker.ask("search_papers", query="cold finger disease")
        assert hits
        results = await asker.ask("get_results", research_id=started.research_id, format="detailed")
        assert results.top_hypotheses
        first = results.looked_outside[0]
        told = {one.service: one for one in first.services}
        assert told["openalex"].outcome == "answered"
        assert told["openalex"].returned > 0
        assert told["crossref"].outcome == "failed"
        assert told["crossref"].reason
        assert first.added
        assert "Looked outside" in results.markdown
        assert "crossref did not answer" in results.markdown
        assert "--look-outside" in results.markdown

    with Outside() as outside:
        visit(settings_outside(tmp_path, outside), story)


@pytest.mark.promise("W1")
def test_a_work_outside_that_names_both_makes_a_hypothesis_less_new(tmp_path: Path) -> None:
    async def story(asker: Asker) -> None:
        started = await asker.ask(
            "start_research", goal=GOAL, hypothesis_count=3, look_outside=True
        )
        status = await asker.finished(started.research_id)
        assert status.status == "completed", status.problem
        own = await asker.ask(
            "submit_hypothesis",
            research_id=started.research_id,
            title="Marine oil relieves cold finger disease",
            summary="Marine oil relieves cold finger disease by lowering blood viscosity.",
        )
        review = await asker.ask("review_hypothesis", hypothesis_id=own.id)
        look = review.outside
        assert look is not None
        assert look.hypothesis_id == own.id
        assert [one.title for one in look.naming_all] == ["Marine oil relieves cold finger disease"]
        assert look.naming_all[0].paper_id in review.citations
        assert review.scores.novelty is None or review.scores.novelty <= 0.6
        assert any("1 works outside" in each for each in review.weaknesses)

    with Outside() as outside:
        outside.knows_the_link = True
        only = {"services": ("openalex",), "addresses": {"openalex": f"{outside.base}/openalex"}}
        visit(settings_outside(tmp_path, outside, literature=only), story)

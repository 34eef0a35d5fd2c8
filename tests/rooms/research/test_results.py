"""What the research room tells of a project, and what people add to it."""

from __future__ import annotations

import json
import re
from html import escape

import pytest

from carrel.core.errors import CarrelError, ConflictError, InvalidInputError
from carrel.settings import Settings
from tests.rooms.research.house import Asker, finished_project, visit


@pytest.mark.promise("S4")
def test_results_come_in_three_forms_with_their_bibliography(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished_project(asker, 4)
        summary = await asker.ask("get_results", research_id=research_id, top_n=2)
        assert len(summary.top_hypotheses) == 2 < summary.total_hypotheses
        assert summary.top_hypotheses[0].experimental_protocol is None
        assert {item["id"] for item in summary.bibliography} == {
            name for row in summary.top_hypotheses for name in row.citations
        }
        assert summary.bibliography_bibtex.count("@") == len(summary.bibliography)
        assert summary.top_hypotheses[0].title in summary.markdown
        assert all(
            f"[{item['id']}]" in summary.markdown.partition("## Bibliography")[2]
            for item in summary.bibliography
        )
        detailed = await asker.ask("get_results", research_id=research_id, format="detailed")
        assert all(row.experimental_protocol and row.reviews for row in detailed.top_hypotheses)
        assert "**Protocol**" in detailed.markdown
        aims = (await asker.ask("get_results", research_id=research_id, format="nih_aims")).nih_aims
        assert aims is not None
        assert 1 <= len(aims.aims) <= 3
        assert all(aim.goal and aim.hypothesis and aim.reasoning for aim in aims.aims)
        assert (
            aims.disease_description
            and aims.unmet_need
            and aims.proposed_solution
            and aims.pilot_evaluation
        )
        assert aims.articles and all(
            article.summary and article.relevance for article in aims.articles
        )
        page = (await asker.ask("export_research", research_id=research_id, format="html")).body
        assert page.startswith("<!doctype html>")
        assert (
            "<polyline" in page
            and "<line" in page
            and "http://" not in page.replace("http://www.w3.org/2000/svg", "")
        )
        whole = await asker.in_full(research_id)
        assert all(f'id="{row.id}"' in page for row in whole)
        assert all(f'id="paper-{paper_id}"' in page for row in whole for paper_id in row.citations)
        assert all(escape(match.reason) in page for row in whole for match in row.matches)
        assert re.search(r"<h2>Papers</h2>.*acid-\d+ \(\d{4}\)\. Omega acid", page)

    visit(settings, story)


@pytest.mark.promise("S4", "S12")
def test_every_quotation_of_a_report_stands_in_the_passage_or_title_that_it_names(
    settings: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished_project(asker, 4)
        asked = {"research_id": research_id, "format": "detailed"}
        pages = [
            (await asker.ask("get_results", **asked)).markdown,
            (await asker.ask("export_research", research_id=research_id, format="markdown")).body,
        ]
        html = (await asker.ask("export_research", research_id=research_id, format="html")).body
        for page in pages:
            quotations = re.findall(
                r"^  - (?:for|against|bears on it): “(.+)” `([^`]+)`", page, re.MULTILINE
            )
            assert len(quotations) >= 4
            for sentence, name in quotations:
                if "~" in name:
                    read = await asker.ask("read_passage", passage_id=name)
                    text = " ".join(read.passages[0].text.split())
                else:
                    text = (await asker.ask("get_paper_metadata", paper_id=name)).title
                assert sentence in text
                assert f"~{name.partition('~')[2]}</span>" in html or "~" not in name
            for heading in ("What would refute it", "Cost", "How to repeat it"):
                assert heading in page and heading in html

    visit(settings, story)


@pytest.mark.promise("S9")
def test_people_add_rate_approve_and_reject_and_nothing_is_hidden(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished_project(asker, 3)
        rows = await asker.in_full(research_id)
        cited = rows[0].citations[:1]
        own = await asker.ask(
            "submit_hypothesis",
            research_id=research_id,
            title="Marine oil eases cold finger disease",
            summary="Marine oil may ease cold finger disease because both bear on vessel tone.",
            citations=cited,
        )
        assert (own.origin, own.citations, own.elo_score) == ("submitted by ada", cited, 1000.0)
        assert "Steps: none were given." in own.experimental_protocol
        assert own.experimental_protocol.startswith(
            "Objective: Test this hypothesis: Marine oil eases cold finger disease.\n"
        )
        assert "takes part in no more rounds until somebody asks" in own.next_step
        assert f"review_hypothesis(hypothesis_id={own.id})" in own.next_step
        assert f"rank_hypotheses(research_id={research_id})" in own.next_step
        with pytest.raises(ConflictError, match=own.id):
            await asker.ask(
                "submit_hypothesis", research_id=research_id, title=own.title, summary=own.summary
            )
        again = await asker.ask(
            "submit_hypothesis",
            research_id=research_id,
            title="Marine oil once more",
            summary="The same with a passage of the paper as its source.",
            citations=[f"{cited[0]}~0123456789", cited[0]],
        )
        assert again.citations == cited
        with pytest.raises(InvalidInputError, match="none in it"):
            await asker.ask("import_hypotheses", hypotheses="[]")
        with pytest.raises(InvalidInputError, match="no paper of this corpus"):
            await asker.ask(
                "submit_hypothesis",
                research_id=research_id,
                title="Another one",
                summary="With an invented paper.",
                citations=["x"],
            )
        rating = await asker.ask(
            "rate_hypothesis", hypothesis_id=own.id, score=0.9, comment="Worth a pilot"
        )
        assert (rating.reviewer, rating.scores.overall, rating.strengths) == (
            "ada",
            0.9,
            ["Worth a pilot"],
        )
        assert (rating.scores.plausibility, rating.scores.novelty) == (None, None)
        assert (await asker.ask("review_hypothesis", hypothesis_id=own.id)).citations
        approved = await asker.ask("approve_hypothesis", hypothesis_id=own.id, reason="Feasible")
        assert (approved.approval, approved.approval_reason) == ("approved", "Feasible")
        await asker.ask("reject_hypothesis", hypothesis_id=rows[0].id, reason="Known already")
        ranked = {
            row.id: row for row in await asker.ask("rank_hypotheses", research_id=research_id)
        }
        assert ranked[rows[0].id].approval == "rejected"
        assert ranked[rows[0].id].wins == rows[0].wins
        assert ranked[own.id].wins + ranked[own.id].losses + ranked[own.id].draws > 0
        assert (await asker.ask("get_results", research_id=research_id)).approved == [own.id]
        whole = json.loads((await asker.ask("export_research", research_id=research_id)).body)
        assert {"submitted", "rated", "approved", "rejected"} <= {
            event["kind"] for event in whole["events"]
        }
        assert {"generation", "reflection", "ranking", "evolution", "proximity", "meta-review"} <= {
            output["agent"] for output in whole["agent_outputs"]
        }
        with pytest.raises(InvalidInputError, match="force"):
            await asker.ask("delete_research", research_id=research_id)
        await asker.ask("delete_research", research_id=research_id, force=True)
        with pytest.raises(CarrelError, match="not found"):
            await asker.ask("get_research_status", research_id=research_id)

    visit(settings, story)


@pytest.mark.promise("S1")
def test_resources_and_prompts_have_the_headings_of_the_specification(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished_project(asker, 2)
        (first, *_) = await asker.in_full(research_id)
        page = await asker.read(f"research://projects/{research_id}")
        assert _in_order(
            page,
            f"# Research Project: {research_id}",
            "## Goal",
            "## Status",
            "## Statistics",
            "- Hypotheses Generated: ",
        )
        assert _in_order(page, "- Average ELO Score: ", "## Top Hypotheses", "1. **", "(ELO: ")
        page = await asker.read(f"hypothesis://{first.id}")
        assert _in_order(
            page,
            "# Hypothesis: ",
            f"**ID**: {first.id}",
            "**ELO Score**: ",
            "**Status**: ",
            "## Rationale",
        )
        assert _in_order(
            page,
            "## Experimental Protocol",
            "## Predictions",
            "1. ",
            "## Literature Grounding",
            f"- paper://{first.citations[0]}",
        )
        workflow = await asker.prompt("research-workflow")
        steps = [
            "# AI Co-Scientist Research Workflow", "## 1. Start Research Project",
            "`start_research`", "## 2. Generate Initial Hypotheses",
            "`generate_hypotheses`", "## 3. Monitor Progress", "`get_research_status`",
            "## 4. Review Hypotheses", "`review_hypothesis`",
            "## 5. Rank Hypotheses", "`rank_hypotheses`", 'method="tournament"',
            "## 6. Evolve Top Hypotheses", "`evolve_hypothesis`",
            "## 7. Iterate", "## 8. Export Results", "`get_results`", "## Tips",
        ]  # fmt: skip
        assert _in_order(workflow, *steps)
        analysis = await asker.prompt("hypothesis-analysis", hypothesis_id=first.id)
        tasks = [
            "**Testability Assessment**",
            "**Literature Review**",
            "**Mechanism Analysis**",
            "**Impact Assessment**",
        ]
        assert _in_order(
            analysis,
            f"# Deep Hypothesis Analysis: {first.id}",
            f"# Hypothesis: {first.title}",
            "## Analysis Tasks",
            *tasks,
        )
        assert _in_order(
            analysis,
            "## Recommended Actions",
            "`review_hypothesis`",
            'review_type="deep_verification"',
            "`evolve_hypothesis`",
        )

    visit(settings, story)


def _in_order(text: str, *pieces: str) -> bool:
    place = -1
    for piece in pieces:
        place = text.find(piece, place + 1)
        assert place >= 0, f"{piece!r} is missing, or not in its place"
    return True

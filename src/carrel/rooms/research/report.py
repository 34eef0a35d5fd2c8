"""A project as one HTML page that opens anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from carrel.rooms.research.drawings import MOST_LINES
from carrel.rooms.research.hypothesis_views import place_of
from carrel.rooms.research.records import Hypothesis, MatchPlayed, Project, Review
from carrel.rooms.research.report_drawings import COLOURS, draw_evidence, draw_ratings
from carrel.rooms.research.report_record import (
    Quote,
    ReportSection,
    RunRecord,
    StatementEvidence,
    describe_run,
    list_evidence,
)
from carrel.rooms.research.report_references import format_reference, reference_url

_STYLE = """
body{font:16px/1.5 Georgia,serif;max-width:820px;margin:2rem auto;padding:0 1rem;color:#222;
background:#fff;overflow-wrap:anywhere}
h1,h2,h3{line-height:1.2}h3{margin-bottom:.2rem}
svg{max-width:100%;height:auto;font-family:sans-serif}code{font-size:.85em}
.about{color:#666;font-size:.9em;margin:.2rem 0}pre{white-space:pre-wrap;font:inherit}
ol.key{columns:2;font-size:.9em;padding-left:1.4rem}
table{border-collapse:collapse;font-size:.9em}
td,th{padding:.15rem .6rem;text-align:left;vertical-align:top}
th{font-weight:normal;color:#666}
details{margin:.4rem 0}summary{cursor:pointer;color:#1b6ca8}
.sides{display:grid;grid-template-columns:1fr 1fr;gap:.2rem 1.2rem;font-size:.9em}
.sides>div{border-left:3px solid #588157;padding-left:.6rem}
.sides>div.against{border-color:#c8553d}.sides>div.bearing{border-color:#bbb;grid-column:1/-1}
.sides p{margin:.2rem 0}.sides h5{margin:0;font:inherit;color:#666}
h4{margin:.8rem 0 .2rem;font-size:1em}
dl{display:grid;grid-template-columns:minmax(8rem,14rem) 1fr;gap:.2rem 1rem;font-size:.95em}
dt{color:#666}dd{margin:0}
.sign{display:grid;grid-template-columns:1fr 1fr 1fr;gap:1rem;margin-top:3rem}
.sign span{border-top:1px solid #222;padding-top:.2rem;color:#666;font-size:.9em}
@media(max-width:600px){ol.key{columns:1}.sides,dl,.sign{grid-template-columns:1fr}
dd{margin-bottom:.5rem}.sign{gap:2.5rem}}
@media print{body{margin:0;max-width:none;font-size:11pt}details>*{display:block}
details::details-content{content-visibility:visible;display:block;block-size:auto}
h2,h3,h4{break-after:avoid}.sides,tr,svg{break-inside:avoid}
a{color:inherit;text-decoration:none}}
"""


def write_html_report(
    project: Project,
    ordered: Sequence[Hypothesis],
    reviews: Sequence[Review],
    matches: Sequence[MatchPlayed],
    *,
    references: Sequence[Mapping[str, Any]] = (),
    opening: str = "",
    meta_review: str = "",
    record: RunRecord | None = None,
    evidence: Mapping[str, Sequence[StatementEvidence]] | None = None,
) -> str:
    """The page. Nothing in it is fetched from anywhere, and every text is written as text.

    With a record it says who did what, what was searched, what it cost and how to repeat it.
    `evidence` is by hypothesis, in place of what the records have.
    """
    page = _Page(ordered, reviews, matches, references, evidence or {})
    parts = [
        f"<h1>{escape(project.goal)}</h1>",
        _about(project, len(ordered), len(reviews), len(matches)),
    ]
    if opening:
        parts.append(f"<p>{escape(opening)}</p>")
    if project.problem:
        parts.append(f"<p><strong>{escape(project.problem)}</strong></p>")
    if matches and ordered:
        parts.extend(
            ("<h2>Ratings over the matches</h2>", draw_ratings(ordered, matches), _legend(ordered))
        )
    parts.append("<h2>Hypotheses</h2>")
    parts.extend(
        page.hypothesis(rank, hypothesis) for rank, hypothesis in enumerate(ordered, start=1)
    )
    if not ordered:
        parts.append("<p>None.</p>")
    if meta_review:
        parts.extend(("<h2>Meta-review</h2>", f"<p>{escape(meta_review)}</p>"))
    if references:
        parts.extend(("<h2>Papers</h2>", page.papers()))
    if record is not None:
        parts.extend(map(_section, describe_run(record)))
        parts.append(_SIGNATURE)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width">'
        f"<title>{escape(project.goal)}</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>"
    )


_SIGNATURE = (
    '<h2>Checked by</h2><div class="sign"><span>Name</span><span>Date</span>'
    "<span>Signature</span></div>"
)


def _section(section: ReportSection) -> str:
    rows = "".join(
        f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in section.rows
    )
    return f"<h2>{escape(section.heading)}</h2><dl>{rows}</dl>"


def _about(project: Project, hypotheses: int, reviews: int, matches: int) -> str:
    counts = ", ".join(
        (
            count_noun(hypotheses, "hypothesis", "hypotheses"),
            count_noun(reviews, "review"),
            count_noun(matches, "match", "matches"),
        )
    )
    return (
        f'<p class="about">{escape(project.id)} · {escape(project.domain)} · '
        f"{escape(project.status)} · {counts} · begun "
        f"{escape(project.created_at[:10])}, last change {escape(project.updated_at[:10])}</p>"
    )


def count_noun(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def _legend(ordered: Sequence[Hypothesis]) -> str:
    rows = "".join(
        f'<li style="color:{colour}"><a style="color:inherit" '
        f'href="#{escape(hypothesis.id)}">{escape(hypothesis.draft.title)}</a> '
        f"({hypothesis.rating.elo_score:.0f})</li>"
        for colour, hypothesis in zip(COLOURS, ordered[:MOST_LINES], strict=False)
    )
    rest = len(ordered) - MOST_LINES
    others = count_noun(rest, "other is", "others are")
    more = f'<p class="about">{others} not drawn; all are below.</p>' if rest > 0 else ""
    return f'<ol class="key">{rows}</ol>{more}'


class _Page:
    """Shared by all hypotheses of a page: numbers of papers, and titles."""

    def __init__(
        self,
        ordered: Sequence[Hypothesis],
        reviews: Sequence[Review],
        matches: Sequence[MatchPlayed],
        references: Sequence[Mapping[str, Any]],
        evidence: Mapping[str, Sequence[StatementEvidence]],
    ) -> None:
        self._all_evidence = evidence
        self._all_reviews = reviews
        self._all_matches = matches
        self._references = references
        self._numbers = {str(item["id"]): number for number, item in enumerate(references, start=1)}
        self._titles = {hypothesis.id: hypothesis.draft.title for hypothesis in ordered}

    def hypothesis(self, rank: int, hypothesis: Hypothesis) -> str:
        draft, rating = hypothesis.draft, hypothesis.rating
        played = count_noun(rating.match_count, "match", "matches")
        facts = [
            f"Elo {rating.elo_score:.0f}",
            f"strength {rating.strength:.2f} (95 % from {rating.strength_low:.2f} to "
            f"{rating.strength_high:.2f})",
            *_chances(hypothesis),
            f"{rating.wins} won of {played}" if rating.match_count else place_of(hypothesis),
            hypothesis.status,
            hypothesis.decision.approval
            + (f": {hypothesis.decision.reason}" if hypothesis.decision.reason else ""),
            draft.origin,
            hypothesis.id,
        ]
        inside = [
            f'<h3 id="{escape(hypothesis.id)}">{rank}. {escape(draft.title)}</h3>',
            f"<p class='about'>{escape(' · '.join(facts))}</p>",
            f"<p class='about'>{escape(rating.people_say)}</p>" if rating.people_say else "",
            f"<p>{escape(draft.summary)}</p>",
            self._lineage(hypothesis),
            draw_evidence(hypothesis),
            self._evidence(hypothesis),
            _refutations(hypothesis),
            self._reviews(hypothesis),
            _collapsible("Rationale", f"<pre>{escape(draft.rationale)}</pre>"),
            _collapsible(
                "How it could be tested",
                f"<pre>{escape(draft.protocol.as_text())}</pre>" + _predictions(hypothesis),
            ),
            self._matches(hypothesis),
            self._citations(hypothesis),
        ]
        return f"<section>{''.join(inside)}</section>"

    def _lineage(self, hypothesis: Hypothesis) -> str:
        links = [
            f'<a href="#{escape(one)}">{escape(self._titles.get(one, one))}</a>'
            for one in hypothesis.parents
        ]
        how = escape(hypothesis.draft.method.replace("_", " "))
        named = "; ".join(links)
        return f'<p class="about">Made by {how} from {named}</p>' if links else ""

    def _evidence(self, hypothesis: Hypothesis) -> str:
        """Every statement with its sentences, for and against side by side."""
        found = self._all_evidence.get(hypothesis.id)
        if found is None:
            found = list_evidence(hypothesis, self._all_reviews)
        return "".join(("<h4>Evidence</h4>", *map(self._statement, found))) if found else ""

    def _statement(self, evidence: StatementEvidence) -> str:
        sides = [
            self._side("for", "supporting", evidence.supporting),
            self._side("against", "against", evidence.contradicting),
        ]
        if evidence.bearing:
            sides.append(self._side("bears on it, no side sure", "bearing", evidence.bearing))
        both = "".join(sides)
        return (
            f"<p>{escape(evidence.statement)} "
            f"<span class='about'>({escape(evidence.verdict)})</span></p>"
            f'<div class="sides">{both}</div>'
        )

    def _side(self, heading: str, name: str, quotes: Sequence[Quote]) -> str:
        told = "".join(
            f"<p>“{escape(quote.sentence)}” {self._mark(quote.paper_id)}"
            f" <span class='about'>{escape(quote.mark)}</span></p>"
            for quote in quotes
        )
        inside = told or "<p>no sentence</p>"
        return f'<div class="{name}"><h5>{heading}</h5>{inside}</div>'

    def _mark(self, paper_id: str) -> str:
        if paper_id in self._numbers:
            return f'<a href="#paper-{escape(paper_id)}">[{self._numbers[paper_id]}]</a>'
        return escape(paper_id)

    def papers(self) -> str:
        return (
            '<p class="about">A passage is named by the id of its paper and what stands behind the '
            "sentence (~…); read_passage opens it.</p>"
            f"<ol>{''.join(self._paper(item) for item in self._references)}</ol>"
        )

    def _paper(self, item: Mapping[str, Any]) -> str:
        where = reference_url(item)
        line = escape(format_reference(item))
        linked = f'{line} <a href="{escape(where)}">{escape(where)}</a>' if where else line
        return (
            f'<li id="paper-{escape(str(item["id"]))}">{linked} '
            f"<code>{escape(str(item['id']))}</code></li>"
        )

    def _reviews(self, hypothesis: Hypothesis) -> str:
        rows = []
        for review in self._all_reviews:
            if review.hypothesis_id != hypothesis.id:
                continue
            scores = ", ".join(
                f"{name} {value:.2f}"
                for name, value in review.scores.model_dump().items()
                if isinstance(value, float)
            )
            told = " ".join((*review.strengths, *review.weaknesses, *review.recommendations))
            about = f"{review.review_type.replace('_', ' ')}, by {review.reviewer}"
            rows.append(
                f"<tr><th>{escape(about)}</th><td>{escape(scores)}<br>{escape(told)}</td></tr>"
            )
        return (
            _collapsible(count_noun(len(rows), "review"), f"<table>{''.join(rows)}</table>")
            if rows
            else ""
        )

    def _matches(self, hypothesis: Hypothesis) -> str:
        rows = []
        for match in self._all_matches:
            if hypothesis.id not in {match.first, match.second}:
                continue
            is_first = match.first == hypothesis.id
            other = match.second if is_first else match.first
            won = {"first": is_first, "second": not is_first}.get(match.verdict)
            result = match.verdict if won is None else "won" if won else "lost"
            elo = match.first_elo if is_first else match.second_elo
            against = f'<a href="#{escape(other)}">{escape(self._titles.get(other, other))}</a>'
            cells = f"<th>{match.number + 1}</th><td>{escape(result)}</td><td>{elo:.0f}</td>"
            judge = f"Judged by {match.judged_by}" if match.judged_by else ""
            how = f" ({match.margin} margin)" if match.margin else ""
            rows.append(
                f"<tr>{cells}<td>against {against}. {escape(match.reason)} "
                f"{escape(f'{judge}{how}.' if judge else '')}</td></tr>"
            )
        return (
            _collapsible(
                count_noun(len(rows), "match", "matches"), f"<table>{''.join(rows)}</table>"
            )
            if rows
            else ""
        )

    def _citations(self, hypothesis: Hypothesis) -> str:
        marks = [self._mark(name) for name in hypothesis.draft.citations]
        return f'<p class="about">Papers: {" ".join(marks)}</p>' if marks else ""


def _chances(hypothesis: Hypothesis) -> list[str]:
    """The chance to be best and the range of ranks, once strengths were fitted."""
    rating = hypothesis.rating
    if not rating.worst_rank:
        return []
    return [
        f"best of all with {rating.chance_to_be_best:.0%}",
        f"rank {rating.best_rank} to {rating.worst_rank} with 95 %",
    ]


def _refutations(hypothesis: Hypothesis) -> str:
    texts = hypothesis.draft.refutations
    return f"<h4>What would refute it</h4><ol>{_items(texts)}</ol>" if texts else ""


def _predictions(hypothesis: Hypothesis) -> str:
    texts = hypothesis.draft.predictions
    return f"<p>It predicts:</p><ol>{_items(texts)}</ol>" if texts else ""


def _items(texts: Iterable[str]) -> str:
    return "".join(f"<li>{escape(text)}</li>" for text in texts)


def _collapsible(title: str, inside: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"

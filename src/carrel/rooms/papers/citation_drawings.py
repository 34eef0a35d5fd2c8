"""Drawings of citations as text that Mermaid and Graphviz read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from carrel.rooms.papers.citation_models import BriefPaper

_LONGEST_NODE = 60
# Signs that mean nothing to Mermaid inside a quoted label.
_PLAIN_SIGNS = frozenset(" -.,:()+/'!?=")


def write_drawing(
    papers: Mapping[str, BriefPaper],
    arrows: Sequence[tuple[str, str]],
    form: str,
    notes: Sequence[str] = (),
) -> str:
    """A graph of papers; an arrow goes from the paper that cites to the one that is cited.

    Notes hang on the first paper.
    """
    names = {paper_id: f"p{place}" for place, paper_id in enumerate(papers)}
    labels = {names[paper_id]: _label(paper) for paper_id, paper in papers.items()}
    edges = [(names[one], names[other]) for one, other in dict.fromkeys(arrows)]
    told = {f"n{place}": note for place, note in enumerate(notes)}
    if form == "dot":
        return "\n".join(
            [
                "digraph citations {",
                "  rankdir=LR;",
                *(f'  {name} [label="{_escape_dot(text)}"];' for name, text in labels.items()),
                *(
                    f'  {name} [shape=note, label="{_escape_dot(text)}"];'
                    for name, text in told.items()
                ),
                *(f"  {one} -> {other};" for one, other in edges),
                *(f"  p0 -> {name} [style=dashed, dir=none];" for name in told),
                "}",
            ]
        )
    return "\n".join(
        [
            "graph LR",
            *(f'  {name}["{_escape_mermaid(text)}"]' for name, text in (labels | told).items()),
            *(f"  {one} --> {other}" for one, other in edges),
            *(f"  p0 -.- {name}" for name in told),
        ]
    )


def _label(paper: BriefPaper) -> str:
    """A short title on one line, and the year."""
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in paper.title).split())
    short = plain if len(plain) <= _LONGEST_NODE else f"{plain[: _LONGEST_NODE - 1].rstrip()}…"
    return f"{short} ({paper.year})"


def _escape_dot(text: str) -> str:
    """Graphviz reads backslashes, quotes and HTML entities in a label."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


def _escape_mermaid(text: str) -> str:
    """Every sign that Mermaid may read as its own, as the number of the sign: `#35;`."""
    return "".join(
        sign if sign.isalnum() or sign in _PLAIN_SIGNS or not sign.isascii() else f"#{ord(sign)};"
        for sign in text
    )

"""Runs the official CSL test suite: `python -m carrel.libraries.csl.suite FOLDER`."""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .catalogue import PACKAGED_LOCALES
from .context import FIRST, IBID, IBID_WITH_LOCATOR, SUBSEQUENT, Cite, Cluster
from .errors import CitationStyleError
from .processor import Processor
from .style import read_style

_section = re.compile(r">>=+ ([A-Z0-9-]+) =+>>\r?\n(.*?)\r?\n?<<=+ \1 =+<<", re.DOTALL)
_positions = {0: FIRST, 1: SUBSEQUENT, 2: IBID, 3: IBID_WITH_LOCATOR}


@dataclass(frozen=True, slots=True)
class Fixture:
    name: str
    mode: str
    result: str
    style: str
    items: list[dict[str, Any]]
    citation_items: list[list[dict[str, Any]]] = field(default_factory=list)
    citations: list[Any] = field(default_factory=list)
    bib_entries: list[list[str]] = field(default_factory=list)


def read_fixture(path: Path) -> Fixture:
    sections = {found[1]: found[2] for found in _section.finditer(path.read_text("utf-8"))}
    load = {
        name: json.loads(text)
        for name, text in sections.items()
        if name in _json_sections and text.strip()
    }
    return Fixture(
        path.stem,
        sections["MODE"].strip(),
        sections["RESULT"],
        sections["CSL"],
        load["INPUT"],
        load.get("CITATION-ITEMS", []),
        load.get("CITATIONS", []),
        load.get("BIBENTRIES", []),
    )


_json_sections = {
    "INPUT",
    "CITATION-ITEMS",
    "CITATIONS",
    "BIBENTRIES",
}


def run_fixture(fixture: Fixture) -> str:
    """The engine's output for a fixture, in the format of its expected result."""
    items = [{**item, "id": str(item.get("id", place))} for place, item in enumerate(fixture.items)]
    style = read_style(fixture.style.strip(), PACKAGED_LOCALES, name=fixture.name)
    processor = Processor(style, items, output="html")
    if fixture.bib_entries:
        processor.register([str(item_id) for item_id in fixture.bib_entries[-1]])
    cited = ""
    if fixture.citations:
        cited = _run_citations(processor, fixture.citations)
    elif fixture.citation_items:
        cited = "\n".join(
            processor.cite([_cluster(cites, fixed=True)])[0] for cites in fixture.citation_items
        )
    elif fixture.mode == "citation":
        cites = [Cite(item_id) for item_id in processor.numbers]
        cited = processor.cite([Cluster(cites, has_positions=True)])[0] if cites else ""
    if fixture.mode == "citation":
        return cited
    return _bibliography(processor)


def _bibliography(processor: Processor) -> str:
    entries = [f'  <div class="csl-entry">{entry.text}</div>' for entry in processor.bibliography()]
    return "\n".join(['<div class="csl-bib-body">', *entries, "</div>"])


def _cluster(
    cites: Sequence[dict[str, Any]],
    *,
    fixed: bool = False,
    note: int = 0,
    id: str = "",
    mode: str = "",
    infix: str = "",
) -> Cluster:
    return Cluster([_cite(cite) for cite in cites], note, id, mode, infix, has_positions=fixed)


def _cite(source: dict[str, Any]) -> Cite:
    return Cite(
        str(source["id"]),
        str(source.get("locator", "") or "").strip(),
        str(source.get("label", "page") or "page"),
        str(source.get("prefix", "") or ""),
        str(source.get("suffix", "") or ""),
        bool(source.get("suppress-author")),
        bool(source.get("author-only")),
        _positions.get(int(source.get("position", 0) or 0), FIRST),
        bool(source.get("near-note")),
        int(source.get("first-reference-note-number", 0) or 0),
    )


def _run_citations(processor: Processor, steps: list[Any]) -> str:
    """Replay the steps of a word processor; the state after the last, and what it changed."""
    known: dict[str, dict[str, Any]] = {}
    before: dict[str, object] = {}
    order: list[str] = []
    changed = ""
    after: dict[str, object] = {}
    texts: list[str] = []
    for place, (citation, earlier, later) in enumerate(steps):
        changed = str(citation.get("citationID") or f"citation-{place}")
        known[changed] = citation
        order = [*(str(one[0]) for one in earlier), changed, *(str(one[0]) for one in later)]
        notes = {str(one[0]): int(one[1]) for one in [*earlier, *later]}
        clusters = [_document_cluster(known[one], one, notes) for one in order]
        processor.register([cite.id for cluster in clusters for cite in cluster.cites])
        texts = processor.cite(clusters)
        before, after = after, {}
        for cluster, text in zip(clusters, texts, strict=True):
            states = [repr(processor.disambiguations.get(cite.id)) for cite in cluster.cites]
            after[cluster.id] = (text, cluster.note_number, states)
    lines = []
    for place, name in enumerate(order):
        sign = ">>" if name == changed or before.get(name) != after[name] else ".."
        lines.append(f"{sign}[{place}] {texts[place]}")
    return "\n".join(lines)


def _document_cluster(citation: dict[str, Any], id: str, notes: dict[str, int]) -> Cluster:
    properties = citation.get("properties", {})
    note = notes.get(id, int(properties.get("noteIndex", 0) or 0))
    return _cluster(
        citation["citationItems"],
        note=note,
        id=id,
        mode=str(properties.get("mode", "")),
        infix=str(properties.get("infix", "")),
    )


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m carrel.libraries.csl.suite FOLDER", file=sys.stderr)  # noqa: T201
        return 2
    failed = []
    paths = sorted(Path(arguments[0]).glob("*.txt"))
    for path in paths:
        fixture = read_fixture(path)
        try:
            passed = run_fixture(fixture) == fixture.result
        except CitationStyleError:
            passed = False
        if not passed:
            failed.append(path.stem)
    for name in failed:
        print(name)  # noqa: T201
    print(f"{len(paths) - len(failed)} passed, {len(failed)} failed")  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The desk: papers, a bibliography and notes written into a folder, the same bytes each time.

    python -m benchmarks.deskbench.desk FOLDER

writes papers/, references.bib, notes/ and manifest.json, which has the truth about all of them.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.deskbench.pdf_writer import TextBlock, write_pdf

DATA = Path(__file__).parent
SECTIONS = ("Introduction", "Methods", "Results", "Discussion")
# The prefix that registration agencies keep for tests: no such DOI leads anywhere.
DOI_PREFIX = "10.5555/deskbench."


@dataclass(frozen=True)
class DeskTable:
    """A table of a paper."""

    caption: str
    header: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class DeskPaper:
    """A paper of the desk as it truly is; `wrong` has fields that its file states otherwise."""

    key: str
    kind: str
    field: str
    title: str
    authors: list[str]
    year: int
    venue: str
    volume: str
    pages: str
    keywords: list[str]
    abstract: str
    sections: dict[str, str]
    cites: list[str]
    table: DeskTable | None = None
    figure: str | None = None
    wrong: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def doi(self) -> str:
        return DOI_PREFIX + self.key

    @property
    def path(self) -> str:
        """Where its file lies below the desk's folder."""
        suffix = {"pdf": "pdf", "jats": "xml", "md": "md"}[self.kind]
        return f"papers/{self.field.replace(' ', '-')}/{self.key}.{suffix}"


@cache
def read_papers() -> list[DeskPaper]:
    """The papers of papers.toml."""
    listed = tomllib.loads((DATA / "papers.toml").read_text("utf-8"))["paper"]
    papers = []
    for listed_row in listed:
        row = dict(listed_row)
        sections = {name: row.pop(name) for name in SECTIONS if name in row}
        table = DeskTable(**row.pop("table")) if "table" in row else None
        papers.append(DeskPaper(**row, sections=sections, table=table))
    return papers


def read_notes() -> list[dict[str, Any]]:
    """The notes of notes.toml."""
    notes: list[dict[str, Any]] = tomllib.loads((DATA / "notes.toml").read_text("utf-8"))["note"]
    return notes


def write_desk(folder: Path) -> None:
    """Writes every file of the desk into the folder."""
    papers = {paper.key: paper for paper in read_papers()}
    writers = {"pdf": write_pdf_paper, "jats": write_jats_paper, "md": write_markdown_paper}
    for paper in papers.values():
        _write(folder / paper.path, writers[paper.kind](paper, papers))
    _write(folder / "references.bib", write_bibliography(papers).encode())
    for note in read_notes():
        _write(folder / "notes" / f"{_file_name(note['title'])}.md", write_note(note).encode())
    manifest = {
        "papers": [
            {"key": p.key, "title": p.title, "authors": p.authors, "year": p.year, "doi": p.doi}
            | {"venue": p.venue, "file": p.path, "field": p.field, "cites": p.cites}
            | {"page_of": page_of_sections(p)}
            for p in papers.values()
        ],
        "references": sorted(read_reference_keys()),
        "notes": [{"title": note["title"], "tags": note["tags"]} for note in read_notes()],
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True)
    _write(folder / "manifest.json", (text + "\n").encode())


def page_of_sections(paper: DeskPaper) -> dict[str, int]:
    """On which page each section of a PDF is; empty for other kinds."""
    if paper.kind != "pdf":
        return {}
    return {name: number for number, name in enumerate(SECTIONS, start=1)}


def display_name(author: str) -> str:
    """The author with the given name first."""
    family, _, given = author.partition(", ")
    return f"{given} {family}" if given else family


def describe_cited(paper: DeskPaper) -> str:
    """A paper as it is printed in a reference list."""
    names = ", ".join(_initials(author) for author in paper.authors)
    place = f"{paper.venue} {paper.volume}, {paper.pages}".rstrip(", ")
    return f"{names} ({paper.year}). {paper.title}. {place}. doi:{paper.doi}"


def write_pdf_paper(paper: DeskPaper, papers: dict[str, DeskPaper]) -> bytes:
    """Four pages: head and Introduction, Methods, Results, Discussion with References."""
    place = f"{paper.venue} {paper.volume} ({paper.year}) {paper.pages}".replace("  ", " ").strip()
    head = [
        TextBlock(place, 8, space_after=4),
        TextBlock(f"https://doi.org/{paper.doi}", 8, space_after=28),
        TextBlock(paper.title, 17, "bold", 14),
        TextBlock(", ".join(display_name(author) for author in paper.authors), 11, space_after=20),
        TextBlock("Abstract", 12, "bold", 4),
        TextBlock(paper.abstract, space_after=12),
        TextBlock("Keywords: " + ", ".join(paper.keywords), 9, space_after=20),
    ]
    pages = [[TextBlock(name, 12, "bold", 6), TextBlock(paper.sections[name])] for name in SECTIONS]
    pages[0] = head + pages[0]
    if paper.cites:
        pages[-1].append(TextBlock("References", 12, "bold", 6))
        for number, key in enumerate(paper.cites, start=1):
            text = f"[{number}] {describe_cited(papers[key])}"
            pages[-1].append(TextBlock(text, 9, space_after=4))
    return write_pdf(pages, paper.title)


def write_markdown_paper(paper: DeskPaper, papers: dict[str, DeskPaper]) -> bytes:
    """Markdown with front matter; the fields of `wrong` stand there as they were mistyped."""
    stated: dict[str, Any] = {"authors": paper.authors, "year": paper.year} | paper.wrong
    lines = ["---", f"title: {_quoted(paper.title)}", "authors:"]
    lines += [f"  - {_quoted(display_name(author))}" for author in stated["authors"]]
    lines += [f"year: {stated['year']}", f"journal: {_quoted(paper.venue)}"]
    lines += [f"volume: {_quoted(paper.volume)}", f"pages: {_quoted(paper.pages)}"]
    lines += [f"doi: {paper.doi}", f"keywords: [{', '.join(paper.keywords)}]", "---", ""]
    lines += [f"# {paper.title}", "", "## Abstract", "", paper.abstract, ""]
    for name, text in paper.sections.items():
        lines += [f"## {name}", "", text, ""]
    if paper.cites:
        lines += ["## References", ""]
        lines += [f"{n}. {describe_cited(papers[key])}" for n, key in enumerate(paper.cites, 1)]
        lines.append("")
    return "\n".join(lines).encode()


def write_jats_paper(paper: DeskPaper, papers: dict[str, DeskPaper]) -> bytes:
    """A JATS article with its sections, table, figure and reference list."""
    kind = "retraction" if paper.title.startswith("Retraction") else "research-article"
    people = "".join(
        f'<contrib contrib-type="author">{_jats_name(author)}</contrib>' for author in paper.authors
    )
    first, _, last = paper.pages.partition("-")
    body = "".join(
        f"<sec><title>{name}</title><p>{escape(text)}</p>"
        + (_jats_floats(paper) if name == "Results" else "")
        + "</sec>"
        for name, text in paper.sections.items()
    )
    cited = "".join(
        f'<ref id="r{number}">{_jats_citation(papers[key])}</ref>'
        for number, key in enumerate(paper.cites, start=1)
    )
    keywords = "".join(f"<kwd>{escape(keyword)}</kwd>" for keyword in paper.keywords)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<article article-type="{kind}" xml:lang="en"><front>'
        f"<journal-meta><journal-title-group><journal-title>{escape(paper.venue)}</journal-title>"
        "</journal-title-group></journal-meta>"
        f'<article-meta><article-id pub-id-type="doi">{paper.doi}</article-id>'
        f"<title-group><article-title>{escape(paper.title)}</article-title></title-group>"
        f"<contrib-group>{people}</contrib-group>"
        f'<pub-date pub-type="epub"><year>{paper.year}</year></pub-date>'
        f"<volume>{paper.volume}</volume><fpage>{first}</fpage><lpage>{last or first}</lpage>"
        f"<abstract><p>{escape(paper.abstract)}</p></abstract>"
        f"<kwd-group>{keywords}</kwd-group></article-meta></front>"
        f"<body>{body}</body><back><ref-list>{cited}</ref-list></back></article>\n"
    ).encode()


def write_note(note: dict[str, Any]) -> str:
    """A note as a Markdown file with its tags in front matter."""
    tags = ", ".join(note["tags"])
    return f"---\ntags: [{tags}]\n---\n\n# {note['title']}\n\n{note['text']}\n"


def write_bibliography(papers: dict[str, DeskPaper]) -> str:
    """references.bib: kept papers and other works."""
    listed = tomllib.loads((DATA / "library.toml").read_text("utf-8"))
    entries = []
    for key in listed["kept"]:
        paper = papers[key]
        pages = listed["wrong_pages"].get(key, paper.pages).replace("-", "--")
        fields = {"author": " and ".join(paper.authors), "title": paper.title}
        fields |= {"journal": paper.venue, "year": str(paper.year), "volume": paper.volume}
        fields |= {"pages": pages, "doi": paper.doi, "keywords": ", ".join(paper.keywords)}
        entries.append(_bibtex("article", key, fields))
    entries += [_bibtex(work["type"], work["key"], work["fields"]) for work in listed["work"]]
    return "\n".join(entries)


def read_reference_keys() -> list[str]:
    """The keys of references.bib."""
    listed = tomllib.loads((DATA / "library.toml").read_text("utf-8"))
    return [*listed["kept"], *(work["key"] for work in listed["work"])]


def read_reference_works() -> list[dict[str, Any]]:
    """The works of references.bib, each once, with title, DOI, pages and year as typed there."""
    papers = {paper.key: paper for paper in read_papers()}
    listed = tomllib.loads((DATA / "library.toml").read_text("utf-8"))
    works = [
        {"title": papers[key].title, "doi": papers[key].doi, "year": str(papers[key].year)}
        | {"pages": listed["wrong_pages"].get(key, papers[key].pages)}
        for key in listed["kept"]
    ]
    for work in listed["work"]:
        fields = work["fields"]
        if work["key"] not in listed["same_works"]:
            pages = fields.get("pages", "").replace("--", "-")
            row = {"title": fields["title"], "doi": fields.get("doi", ""), "pages": pages}
            works.append(row | {"year": fields["year"]})
    return works


def _bibtex(kind: str, key: str, fields: dict[str, str]) -> str:
    rows = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{kind}{{{key},\n{rows}}}\n"


def _initials(author: str) -> str:
    family, _, given = author.partition(", ")
    return f"{family}, {given[0]}." if given else family


def _jats_name(author: str) -> str:
    family, _, given = author.partition(", ")
    return (
        f"<name><surname>{escape(family)}</surname>"
        f"<given-names>{escape(given)}</given-names></name>"
    )


def _jats_floats(paper: DeskPaper) -> str:
    floats = ""
    if paper.figure is not None:
        floats += (
            '<fig id="f1"><label>Figure 1</label><caption><p>'
            f"{escape(paper.figure)}</p></caption></fig>"
        )
    if paper.table is not None:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in paper.table.header)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in paper.table.rows
        )
        floats += (
            '<table-wrap id="t1"><label>Table 1</label><caption><p>'
            f"{escape(paper.table.caption)}</p></caption><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table></table-wrap>"
        )
    return floats


def _jats_citation(paper: DeskPaper) -> str:
    people = "".join(_jats_name(author) for author in paper.authors)
    return (
        '<element-citation publication-type="journal"><person-group person-group-type="author">'
        f"{people}</person-group><article-title>{escape(paper.title)}</article-title>"
        f"<source>{escape(paper.venue)}</source><year>{paper.year}</year>"
        f"<volume>{paper.volume}</volume>"
        f'<pub-id pub-id-type="doi">{paper.doi}</pub-id></element-citation>'
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _file_name(title: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in " -" else "" for letter in title)
    return " ".join(kept.split())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


if __name__ == "__main__":
    write_desk(Path(sys.argv[1]))

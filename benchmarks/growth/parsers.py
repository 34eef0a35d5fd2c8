"""Every parser of foreign input, as a function of one text, with the shapes that belong to its
format.
"""
# ruff: noqa: E501 - tables of shapes, one to a line

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from benchmarks.growth.families import TEXTS, Family, nested, numbered, repeated
from carrel.core.errors import CarrelError
from carrel.libraries.bibliography.citation_keys import make_key
from carrel.libraries.bibliography.dates import read_date, read_year_and_month
from carrel.libraries.bibliography.formats import (
    ExportFormat,
    read_bibliography,
    write_bibliography,
)
from carrel.libraries.bibliography.imports import BibliographyError
from carrel.libraries.bibliography.recognition import InputKind, recognise
from carrel.libraries.csl import CitationStyleError, load_style, render_bibliography
from carrel.libraries.discovery.concepts.extraction import defined_in, read_chunk
from carrel.libraries.discovery.records import Paper
from carrel.libraries.identifiers import ArxivId, Doi, Isbn, NotAnIdentifierError, Pmcid, Pmid
from carrel.libraries.query.elasticsearch.parser import parse_search_body
from carrel.libraries.query.errors import QueryError
from carrel.libraries.query.notes import parse_note_query
from carrel.libraries.query.papers import parse_identifiers, parse_paper_query
from carrel.libraries.text.outline import outline
from carrel.libraries.text.passages import cut_passages, passage_ids
from carrel.libraries.text.plain_text import plain_text, spaced_for_index
from carrel.libraries.text.snippets import Marker
from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.figures import PaperFigure
from carrel.libraries.works.reference_lists import ReferenceLine, read_reference_list
from carrel.libraries.works.reference_parsing import parse_reference
from carrel.rooms.knowledge.links import link_targets
from carrel.rooms.knowledge.note_format import EmptyNoteError, parse_note, write_note
from carrel.rooms.papers.building.paper_keys import find_month, find_year, normalise_title
from carrel.rooms.references.matching import all_text, capital_words
from carrel.rooms.references.queries import parse_reference_query
from carrel.rooms.research.human_input import read_legacy_hypotheses
from carrel.rooms.research.safety import check_goal, check_hypothesis
from carrel.services.language_models.answers import _object_in
from carrel.services.literature.dois import tidy_record
from carrel.services.node_files import read_nodes
from carrel.services.paper_sources.bibliography import BibliographyReader
from carrel.services.paper_sources.fields import parse_fields
from carrel.services.paper_sources.jats import JatsReader
from carrel.services.paper_sources.json_records import JsonLinesReader, PaperInfosReader
from carrel.services.paper_sources.markdown import MarkdownReader
from carrel.services.paper_sources.markdown_lists import read_text_figures, read_text_references
from carrel.services.paper_sources.source_reader import SourceReader

ALLOWED: tuple[type[Exception], ...] = (
    CarrelError,
    QueryError,
    BibliographyError,
    CitationStyleError,
    EmptyNoteError,
    NotAnIdentifierError,
)


@dataclass(frozen=True, slots=True)
class Parser:
    """A parser, and the families it is measured on. `around` puts a text where the format expects
    one.
    """

    name: str
    run: Callable[[str], object]
    around: dict[str, tuple[str, str]] = field(default_factory=lambda: {"": ("", "")})
    own: dict[str, Family] = field(default_factory=dict)
    largest: int = 200_000

    def families(self) -> dict[str, Family]:
        """The common texts in each place of the format, and the format's own shapes."""
        made: dict[str, Family] = {}
        for place, (before, after) in self.around.items():
            for name, family in TEXTS.items():
                label = f"{name} in {place}" if place else name
                made[label] = _wrapped(before, family, after)
        return made | self.own


def _wrapped(before: str, family: Family, after: str) -> Family:
    return lambda size: before + family(size) + after


def _reader(kind: InputKind) -> Callable[[str], object]:
    return lambda text: read_bibliography(text, kind)


def _doubling(size: int) -> str:
    count = max(4, size // 40)
    strings = "".join(f"@string{{a{at} = a{at - 1} # a{at - 1}}}\n" for at in range(1, count))
    return '@string{a0 = "xx"}\n' + strings + f"@article{{k, title = a{count - 1}}}"


def _doubling_in_values(size: int) -> str:
    return (
        '@string{a0 = "'
        + "x" * (size // 3)
        + '"}\n'
        + "@article{k, title = a0"
        + " # a0" * (size // 15)
        + "}"
    )


def _inherited_chain(size: int) -> str:
    count = max(2, size // 60)
    return "".join(
        f"@book{{k{at}, crossref = {{k{at + 1}}}, f{at} = {{v}}}}\n" for at in range(count)
    )


def _inherited_from_all(size: int) -> str:
    count = max(2, size // 70)
    return "".join(
        f"@book{{k{at}, xdata = "
        f"{{{','.join(f'k{other}' for other in range(at + 1, min(at + 8, count)))}}}, "
        f"title={{t}}}}\n"
        for at in range(count)
    )


_BIBTEX_OWN: dict[str, Family] = {
    "doubled strings": _doubling,
    "long string used often": _doubling_in_values,
    "crossref chain": _inherited_chain,
    "xdata fan": _inherited_from_all,
    "big parent, many children": lambda size: "@xdata{p, abstract={" + "x" * (size // 2) + "}}\n" + "".join(f"@book{{k{at}, xdata={{p}}}}\n" for at in range(size // 50)),
    "one key again and again": repeated("@article{k, title={a}}\n"),
    "many entries": numbered("@article{k#, title={a}, author={B, C}}\n"),
    "entries without keys": repeated("@article{title={a}}\n"),
    "unclosed entries": repeated("@article{k, title={a\n"),
    "unclosed quotes": repeated('@article{k, title="a\n'),
    "unclosed on one line": repeated("@article{k, title={a "),
    "unclosed comments": repeated("@comment{"),
    "unclosed comments on lines": repeated("@comment{\n"),
    "commented out": repeated("%@article{a\n"),
    "commented out on one line": repeated("%@article{a"),
    "at signs and names": repeated("@a "),
    "name without brace": repeated("@article\n"),
    "many strings": numbered('@string{s# = "a"}\n'),
    "many unknown strings": numbered("a#=b#,", "@article{k,", "}"),
    "many fields": numbered("f# = {a},\n", "@article{k,\n", "}"),
    "one field again": repeated("keywords = {a},\n", "@article{k,\n", "}"),
    "authors again": numbered("author = {a#},\n", "@article{k,\n", "}"),
    "notes again": numbered("note = {a#},\n", "@article{k,\n", "}"),
    "urls again": numbered("url# = {http://a/#},\n", "@article{k,\n", "}"),
    "fields without equals": repeated("title {a},\n", "@article{k,\n", "}"),
    "closed too early": repeated("}, a={b}", "@article{k, a={b}"),
    "joined parts": repeated(' # "a"', '@article{k, title = "a"', "}"),
    "joined groups": repeated(" # {a}", "@article{k, title = {a}", "}"),
    "swallowed fields": repeated("\n a = {b}", "@article{k, title = {a"),
    "quotes inside": repeated('a "b" c ', '@article{k, title = "', '"}'),
    "closing braces": repeated("}", "@article{k, title = {a"),
    "unreadable": repeated("= ,\n", "@article{k, "),
    "unreadable words": repeated("a b c\n", "@article{k, "),
    "unreadable with starts": repeated("\n@a{ ", "@article{k, "),
    "long key": repeated("a", "@article{", ", title={b}}"),
    "many aliases": numbered("a#,", "@article{k, crossref={k}, ids={", "}}"),
    "names with braces": repeated("{A} B and ", "@article{k, author={", "}}"),
    "extended names": repeated("family=A, given=B and ", "@article{k, author={", "}}"),
    "one extended name": repeated("family=A, ", "@article{k, author={", "}}"),
    "different names": numbered("A# B# and ", "@article{k, author={", "}}"),
    "files": repeated("a:b:PDF;", "@article{k, file={", "}}"),
    "deep in a value": nested("{", "}"),
    "kept object": lambda size: "@article{k, carrel-csl={" + nested('{"set":', "}", "1")(size) + "}}",
}  # fmt: skip

_BIBTEX_PLACES = {
    "": ("", ""),
    "a title": ("@article{k, title = {", "}, year = 2000}\n"),
    "a quoted title": ('@article{k, title = "', '", year = 2000}\n'),
    "an unclosed title": ("@article{k, title = {", ""),
    "an author": ("@article{k, author = {", "}}\n"),
    "an abstract": ("@article{k, abstract = {", "}}\n"),
    "pages": ("@article{k, pages = {", "}}\n"),
    "a month": ("@article{k, year = 2000, month = {", "}}\n"),
    "a year": ("@article{k, year = {", "}}\n"),
    "a date": ("@article{k, date = {", "}}\n"),
    "keywords": ("@article{k, keywords = {", "}}\n"),
    "a DOI": ("@article{k, doi = {", "}}\n"),
    "a link": ("@article{k, url = {", "}}\n"),
    "a note": ("@article{k, note = {", "}}\n"),
    "an ISBN": ("@article{k, isbn = {", "}}\n"),
    "a file": ("@article{k, file = {", "}}\n"),
    "a publisher": ("@article{k, publisher = {", "}}\n"),
    "an edition": ("@article{k, edition = {", "}}\n"),
    "a language": ("@article{k, language = {", "}}\n"),
    "an eprint": ("@article{k, eprint = {", "}}\n"),
    "how published": ("@misc{k, howpublished = {", "}}\n"),
    "a key": ("@article{", ", title = {a}}"),
    "an entry": ("@article{k, ", "}"),
    "a string": ("@string{a = ", "}\n@article{k, title = a}"),
    "a preamble": ("@preamble{", "}"),
}


def _xml_own(root: str, inside: str) -> dict[str, Family]:
    return {
        "nested elements": lambda size: f"<{root}>" + nested(f"<{inside}>", f"</{inside}>")(size) + f"</{root}>",
        "many elements": repeated(f"<{inside}>a</{inside}>", f"<{root}>", f"</{root}>"),
        "unclosed elements": repeated(f"<{inside}>", f"<{root}>"),
        "many attributes": lambda size: f"<{root} " + " ".join(f'a{at}="b"' for at in range(size // 9)) + "/>",
        "long attribute": repeated("a", f'<{root} a="', '"/>'),
        "unclosed attribute": repeated("a", f'<{root} a="'),
        "character references": repeated("&#65;", f"<{root}><{inside}>", f"</{inside}></{root}>"),
        "lines": repeated("a\n", f"<{root}><{inside}>", f"</{inside}></{root}>"),
        "comments": repeated("<!--a-->", f"<{root}>", f"</{root}>"),
        "unclosed comment": repeated("<!-", f"<{root}><!--"),
        "processing instructions": repeated("<?a b?>", f"<{root}>", f"</{root}>"),
        "marked sections": repeated("<![CDATA[a]]>", f"<{root}><{inside}>", f"</{inside}></{root}>"),
        "unclosed marked section": repeated("]]", f"<{root}><![CDATA["),
        "undeclared prefixes": numbered("<p#:a/>", f"<{root}>", f"</{root}>"),
        "entities declared": lambda size: "<!DOCTYPE a [" + "".join(f'<!ENTITY e{at} "&e{at - 1};&e{at - 1};">' for at in range(1, size // 40)) + f"]><{root}>&e9;</{root}>",
        "document type": repeated("<!ELEMENT a ANY>", "<!DOCTYPE a [", f"]><{root}/>"),
        "unclosed document type": repeated("<!", "<!DOCTYPE a ["),
    }  # fmt: skip


def _json_own(before: str, after: str) -> dict[str, Family]:
    return {
        "nested lists": lambda size: before + nested("[", "]", "1")(size) + after,
        "nested objects": lambda size: before + nested('{"a":', "}", "1")(size) + after,
        "unclosed lists": repeated("[", before),
        "unclosed objects": repeated('{"a":', before),
        "many keys": lambda size: (
            before + json.dumps({f"k{at}": at for at in range(size // 12)}) + after
        ),
        "one key again": lambda size: (
            before + "{" + ",".join('"a":1' for _ in range(size // 6)) + "}" + after
        ),
        "long number": lambda size: before + "1" * size + after,
        "long fraction": lambda size: before + "1." + "1" * size + after,
        "big exponent": lambda size: before + "1e" + "9" * size + after,
        "escapes": lambda size: before + '"' + "\\u0041" * (size // 6) + '"' + after,
        "unclosed string": repeated("\\\\", before + '"'),
        "values in a row": repeated('{"a":1}\n'),
    }


def _read_references(text: str) -> object:
    """A line up, a line down: every line begins a column of its own."""
    return read_reference_list(
        [
            ReferenceLine(line, 72.0 + number % 3 * 9, 400.0 if number % 2 else 100.0)
            for number, line in enumerate(text.split("\n"))
        ]
    )


def _file_reader(reader: SourceReader, suffix: str) -> Callable[[str], object]:
    class Shelf:
        def keep_markdown(self, text: str) -> str:
            plain_text(text)
            return "0" * 64

        def keep_translation(self, text: str, language: str) -> str:
            return "1" * 64

        def keep_pdf(self, path: Path) -> str:
            return "2" * 64

        def keep_image(self, path: Path) -> str:
            return "3" * 64

        def keep_image_bytes(self, content: bytes, extension: str) -> str:
            return "4" * 64

        def keep_references(self, works: Sequence[CitedWork]) -> str:
            return "5" * 64

        def keep_figures(self, figures: Sequence[PaperFigure]) -> str:
            return "6" * 64

    def run(text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"paper{suffix}"
            path.write_text(text, "utf-8", "replace")
            for part in reader.parts(path, ()):
                reader.read(part, Shelf())

    return run


@cache
def _style(name: str) -> object:
    return load_style(name)


def _cite(variable: str, style: str) -> Callable[[str], object]:
    def run(text: str) -> None:
        value: object = text
        if variable == "author":
            value = [{"family": text, "given": text}]
        elif variable == "literal":
            render_bibliography([{"id": "a", "type": "book", "author": [{"literal": text}]}], style)
            return
        elif variable == "issued":
            value = {"raw": text}
        render_bibliography(
            [{"id": "a", "type": "article-journal", "title": "t", variable: value}], style
        )

    return run


def _export(variable: str, form: ExportFormat) -> Callable[[str], object]:
    def run(text: str) -> None:
        value: object = [{"family": text, "given": text}] if variable == "author" else text
        if variable == "issued":
            value = {"raw": text}
        write_bibliography([{"id": "a", "type": "article-journal", variable: value}], form)

    return run


def _identifiers(text: str) -> None:
    for kind in (Doi, Pmid, Pmcid, ArxivId, Isbn):
        try:
            kind.parse(text)
        except NotAnIdentifierError:
            continue


def _note(text: str) -> None:
    note = parse_note(text, "folder/note.md")
    link_targets(note.content)
    write_note("Another title", note.content, ("a", "b"), "folder/note.md", note.front_matter)


def _front_fields(text: str) -> None:
    names = (
        "title",
        "authors",
        "author",
        "keywords",
        "year",
        "month",
        "doi",
        "abstract",
        "bibtex",
        "arxiv",
        "date",
    )
    parse_fields(dict.fromkeys(names, text))


def _nodes(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".jsonl", ".csv"):
            path = Path(folder) / f"nodes{suffix}"
            path.write_text(text, "utf-8", "replace")
            list(read_nodes(path))


def _papers_query(text: str) -> None:
    query = parse_paper_query(text)
    parse_identifiers(text)
    Marker(query.phrases).snippet(["some words of a text " * 20])


def _snippet(text: str) -> None:
    Marker(parse_paper_query("word title 漢 a").phrases).snippet([text])


def _paper_identity(text: str) -> None:
    normalise_title(text)
    find_year(text)
    find_month(text)
    spaced_for_index(text)


def _style_xml(text: str) -> None:
    head = (
        '<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" '
        'version="1.0"><info><id>a</id><title>a</title></info>'
    )
    render_bibliography(
        [{"id": "a", "type": "book", "title": "t", "author": [{"family": "A"}]}],
        head + text + "</style>",
    )


_STYLE_OWN: dict[str, Family] = {
    "nested groups": lambda size: "<citation><layout>" + nested("<group>", "</group>", '<text variable="title"/>')(size) + "</layout></citation>",
    "many texts": repeated('<text variable="title"/>', "<citation><layout>", "</layout></citation><bibliography><layout><text "
"variable='title'/></layout></bibliography>"),
    "macro chain": lambda size: "".join(f'<macro name="m{at}"><text macro="m{at + 1}"/></macro>' for at in range(size // 50)) + '<citation><layout><text macro="m0"/></layout></citation>',
    "macros doubled": lambda size: "".join(f'<macro name="m{at}"><text macro="m{at + 1}"/><text '
f'macro="m{at + 1}"/></macro>' for at in range(size // 70))
    + f'<macro name="m{size // 70}"><text variable="title"/></macro><citation><layout><text '
f'macro="m0"/></layout></citation><bibliography><layout><text '
f'macro="m0"/></layout></bibliography>',
    "macro of itself": lambda size: '<macro name="m"><text '
'macro="m"/></macro><citation><layout><text '
'macro="m"/></layout></citation>',
    "nested choose": lambda size: "<citation><layout>" + nested('<choose><if type="book">', "</if></choose>", '<text variable="title"/>')(size) + "</layout></citation>",
    "nested names": lambda size: "<citation><layout>" + nested('<names variable="editor"><substitute>', "</substitute></names>", '<text variable="title"/>')(size) + "</layout></citation>",
    "many sort keys": repeated('<key variable="title"/>', "<citation><layout><text "
"variable='title'/></layout></citation><bibliography><sort>", "</sort><layout><text "
"variable='title'/></layout></bibliography>"),
    "many terms": numbered('<term name="t#">a</term>', '<locale xml:lang="en"><terms>', '</terms></locale><citation><layout><text '
'variable="title"/></layout></citation>'),
    "long prefix": repeated("a", '<citation><layout prefix="', '"><text variable="title"/></layout></citation>'),
    "long suffix of stops": repeated(".", '<citation><layout suffix="', '"><text variable="title"/></layout></citation>'),
    **_xml_own("citation", "layout"),
}  # fmt: skip


def _search_body(text: str) -> None:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(body, dict):
        parse_search_body(body)


def _research_import(text: str) -> None:
    read_legacy_hypotheses(text)


def _chunk(text: str) -> None:
    read_chunk([Paper("a", text[:100], text)])
    list(defined_in(text))


_FRONT = {
    "front matter": ("---\n", "\n---\nbody"),
    "a list in front matter": ("---\ntags: [", "]\n---\nbody"),
    "unclosed front matter": ("---\n", ""),
}
_YAML_OWN: dict[str, Family] = {
    "aliases": lambda size: "---\na0: &a0 [x, x]\n" + "".join(f"a{at}: &a{at} [*a{at - 1}, *a{at - 1}]\n" for at in range(1, size // 24)) + "title: t\n---\nbody",
    "aliases in tags": lambda size: "---\na0: &a0 [x, x]\n" + "".join(f"a{at}: &a{at} [*a{at - 1}, *a{at - 1}]\n" for at in range(1, size // 24)) + f"tags: *a{size // 24 - 1}\nauthors: "
f"*a{size // 24 - 1}\n---\nbody",
    "merged keys": lambda size: "---\na0: &a0 {k0: v}\n" + "".join(f"a{at}: &a{at}\n  <<: *a{at - 1}\n  k{at}: v\n" for at in range(1, size // 34)) + "---\nbody",
    "merged lists": lambda size: "---\na0: &a0 {k: v}\n" + "".join(f"a{at}: &a{at}\n  <<: [*a{at - 1}, *a{at - 1}]\n" for at in range(1, size // 38)) + "---\nbody",
    "nested flow": lambda size: "---\na: " + nested("[", "]", "1")(size) + "\n---\nbody",
    "nested maps": lambda size: "---\na: " + nested("{a: ", "}", "1")(size) + "\n---\nbody",
    "nested dashes": lambda size: "---\n" + "- " * (size // 2) + "a\n---\nbody",
    "nested indents": lambda size: "---\n" + "".join(" " * at + "a:\n" for at in range(int((2 * size) ** 0.5))) + "---\nbody",
    "many keys": numbered("k#: v\n", "---\n", "---\nbody"),
    "long integer": lambda size: "---\nyear: " + "1" * size + "\n---\nbody",
    "sexagesimal": lambda size: "---\nyear: " + "1:" * (size // 2) + "1\n---\nbody",
    "octal": lambda size: "---\nyear: 0" + "7" * size + "\n---\nbody",
    "ends of front matter": repeated("---x\n", "---\n"),
    "complex keys": repeated("? ", "---\n", "\n---\nbody"),
    "tags of types": repeated("!!str ", "---\na: ", "x\n---\nbody"),
    "anchors": numbered("- &a# x\n", "---\na:\n", "---\nbody"),
    "long key": repeated("a", "---\n", ": b\n---\nbody"),
    "unclosed quote": repeated("a ", '---\ntitle: "', "\n---\nbody"),
    "document markers": repeated("--- a\n", "---\n", "---\nbody"),
}  # fmt: skip


_TAGGED_PLACES = (
    "TI",
    "AU",
    "PY",
    "DA",
    "SP",
    "KW",
    "UR",
    "DO",
    "SN",
    "N1",
    "AB",
    "L1",
    "T2",
    "ID",
)


def _tagged(head: str, line: str, tail: str, tags: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    return {"": ("", "")} | {tag: (head + line.replace("#", tag), tail) for tag in tags}


PARSERS: list[Parser] = [
    Parser("BibTeX", _reader(InputKind.BIBTEX), _BIBTEX_PLACES, _BIBTEX_OWN),
    Parser("RIS", _reader(InputKind.RIS), _tagged("TY  - JOUR\n", "#  - ", "\nER  - \n", _TAGGED_PLACES), {
        "many records": numbered("TY  - JOUR\nTI  - a#\nER  - \n"),
        "records without an end": repeated("TY  - JOUR\nTI  - a\n"),
        "one tag again": numbered("KW  - a#\n", "TY  - JOUR\n", "ER  - \n"),
        "many authors": numbered("AU  - A#, B\n", "TY  - JOUR\n", "ER  - \n"),
        "many titles": numbered("TI  - A#, B\n", "TY  - JOUR\n", "ER  - \n"),
        "many notes": numbered("N1  - A#, B\n", "TY  - JOUR\n", "ER  - \n"),
        "ends alone": repeated("ER  - \n"), "starts alone": repeated("TY  - \n"),
        "continued lines": repeated("a\n", "TY  - JOUR\nTI  - a\n", "ER  - \n"),
        "many links": numbered("UR  - http://a/#\n", "TY  - JOUR\n", "ER  - \n"),
        "unknown tags": repeated("ZZ  - a\n", "TY  - JOUR\n", "ER  - \n"),
    }),
    Parser("NBIB", _reader(InputKind.NBIB), _tagged("PMID- 1\n", "#- ", "\n", ("TI  ", "FAU ", "AU  ", "DP  ", "PG  ", "MH  ", "LID ", "AB  ", "IS  ", "LA  ", "PT  ")), {
        "many records": numbered("PMID- #\nTI  - a\n\n"),
        "many authors": numbered("FAU - A#, B\nAU  - A# B\n", "PMID- 1\n"),
        "continued lines": repeated("      a\n", "PMID- 1\nTI  - a\n"),
        "many affiliations": repeated("AD  - a\n", "PMID- 1\n"),
        "many headings": numbered("MH  - a#\n", "PMID- 1\n"),
    }),
    Parser("Refer", _reader(InputKind.REFER), _tagged("%0 Journal Article\n", "%#", "\n", ("T ", "A ", "D ", "P ", "K ", "U ", "@ ", "X ", "R ", "8 ")), {"many records": numbered("%0 Book\n%T a#\n\n"), "many authors": numbered("%A a#\n", "%0 Book\n")}),
    Parser("Biblioscape, Copac, NEP", lambda text: [read_bibliography(text, kind) for kind in (InputKind.BIBLIOSCAPE, InputKind.COPAC, InputKind.REPEC_NEP)],
           {"": ("", ""), "a Biblioscape title": ("--RT-- Journal\n--TI-- ", "\n"), "a Biblioscape author": ("--RT-- Journal\n--AU-- ", "\n"), "a Biblioscape date": ("--RT-- Journal\n--YP-- ", "\n"),
            "a Copac title": ("TI- ", "\n"), "Copac authors": ("TI- a\nAU- ", "\n"), "a Copac publisher": ("TI- a\nPU- ", "\n"), "a NEP entry": ("NEP: New Economics Papers\n1. ", "\nBy: a\n"), "a NEP author": ("NEP: New Economics Papers\n1. a\nBy: ", "\n"), "NEP keywords": ("NEP: New Economics Papers\n1. a\nKeywords: ", "\n")},
           {"many records": numbered("--RT-- Journal\n--TI-- a#\n"), "many Copac": numbered("TI- a#\nAU- b\n\n"), "many NEP": numbered("#. a\nBy: b\n", "NEP: New Economics Papers\n")}),
    Parser("CSL-JSON", _reader(InputKind.CSL_JSON), {"": ("", ""), "a title": ('[{"title":"', '"}]'), "a date": ('[{"issued":"', '"}]'), "an author": ('[{"author":["', '"]}]')},
           {**_json_own("", ""), **{f"{name} in an item": family for name, family in _json_own('[{"title":', "}]").items()}, **{f"{name} in a date": family for name, family in _json_own('[{"issued":{"date-parts":[[', "]]}}]").items()},
            "many items": numbered('{"id":"a#","title":"b"},', "[", '{"id":"z"}]'), "wrapped": nested('{"items":[', "]}", "1"), "messages": nested('{"message":', "}", "1"), "unclosed strings": repeated('"'), "escaped quotes": repeated('\\"', '[{"title":"')}),
    *(Parser(name, _reader(kind), {"": ("", ""), "text": (before, after)}, _xml_own(root, inside)) for name, kind, root, inside, before, after in (
        ("PubMed XML", InputKind.PUBMED_XML, "PubmedArticleSet", "PubmedArticle", "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>", "</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"),
        ("EndNote XML", InputKind.ENDNOTE_XML, "records", "record", "<xml><records><record><titles><title>", "</title></titles></record></records></xml>"),
        ("MODS", InputKind.MODS, "modsCollection", "mods", "<modsCollection><mods><titleInfo><title>", "</title></titleInfo></mods></modsCollection>"),
        ("MARC XML", InputKind.MARC_XML, "collection", "record", '<collection><record><datafield tag="245"><subfield '
'code="a">', "</subfield></datafield></record></collection>"),
        ("Word sources", InputKind.MS_BIB, "Sources", "Source", "<Sources><Source><Title>", "</Title></Source></Sources>"),
        ("Citavi", InputKind.CITAVI, "CitaviExchangeData", "References", "<CitaviExchangeData><References><Reference id='a'><Title>", "</Title></Reference></References></CitaviExchangeData>"),
    )),
    Parser("format recognition", recognise),
    Parser("identifiers", _identifiers, {"": ("", ""), "a DOI": ("10.1234/", ""), "a link": ("https://a.b/", ""), "a proxy": ("https://a.b/10.1234/", " "), "an arXiv id": ("arXiv:", ""), "an ISBN": ("isbn ", "")}),
    Parser("citation keys", lambda text: make_key(text, 2000, text)),
    Parser("dates", lambda text: (read_date(text), read_year_and_month("2000", text), read_year_and_month(text, "jan")), {"": ("", ""), "a year": ("1999 ", ""), "a range": ("1999/", ""), "two years": ("1999", "2000")}),
    Parser("citation, title", _cite("title", "apa")),
    Parser("citation, title case", _cite("title", "chicago")),
    Parser("citation, author", _cite("author", "apa")),
    Parser("citation, institution", _cite("literal", "apa")),
    Parser("citation, date", _cite("issued", "apa")),
    Parser("citation, page", _cite("page", "apa")),
    Parser("citation, volume", _cite("volume", "nature")),
    Parser("citation, note", _cite("note", "ieee")),
    Parser("citation, link", _cite("URL", "apa")),
    Parser("citation style", _style_xml, {"a layout": ("<citation><layout>", "</layout></citation>")}, _STYLE_OWN),
    *(Parser(f"export {form.value}, {variable}", _export(variable, form)) for form in (ExportFormat.BIBTEX, ExportFormat.BIBLATEX, ExportFormat.RIS) for variable in ("title", "author", "note", "abstract", "page", "issued", "keyword")),
    Parser("library search, one reference", lambda text: capital_words(all_text({"id": "a", "title": text}))),
    Parser("library query", parse_reference_query),
    Parser("papers query", _papers_query, largest=20_000),
    Parser("paper snippet", _snippet),
    Parser("paper identity", _paper_identity),
    Parser("notes query", parse_note_query, {"": ("", ""), "a search of texts": ("text:", "")}),
    Parser("search body", _search_body, {"a query": ('{"query":{"match":{"a":"', '"}}}')}, {**_json_own("", ""), **{f"{name} in a query": family for name, family in _json_own('{"query":{"bool":{"must":', "}}}").items()}}),
    Parser("note", _note, {"": ("", ""), "a body": ("---\ntitle: t\n---\n", ""), **_FRONT}, _YAML_OWN),
    Parser("printed reference", parse_reference, {"": ("", ""), "a title": ("Doe J (1999). ", ". Journal 5:1-9."), "an address": ("Doe J 1999. http://a.b/", ""), "a DOI": ("doi:10.1000/", "")}, {
        "many names": numbered("Doe# J, "),
        "many initials": repeated("J. "),
        "many years": repeated("(1999) "),
        "open brackets": repeated("(["),
    }),
    Parser("reference list", _read_references, {"": ("References\n", ""), "an entry": ("References\n[1] ", "\n[2] Doe J (1999). A title. Journal.")}, {
        "many entries": numbered("[#] Doe J (1999). A title of a work. Journal.\n", "References\n"),
        "many headings": repeated("References\n"),
        "entries without labels": numbered("Doe# J (1999). A title of a work. Journal.\n", "References\n"),
        "one entry of many lines": repeated("word and word-\n", "References\n[1] Doe J (1999).\n"),
        "an address of many lines": repeated("a/b-\n", "References\n[1] Doe J (1999). http://a.b/\n"),
    }),
    Parser("lists in Markdown", lambda text: (read_text_references(text), read_text_figures(text)), {"": ("", ""), "a caption": ("**Figure 1.** ", "\n"), "a picture": ("![", "](a.png)")}, {
        "many captions": numbered("Figure #. A caption.\n\n"),
        "many tables": numbered("| a# | b |\n|---|---|\n| 1 | 2 |\n\n"),
        "many items": numbered("#. Doe J (1999). A title of a work. Journal.\n", "## References\n\n"),
    }),
    Parser("Markdown paper", _file_reader(MarkdownReader(), ".md"), {"": ("", ""), "a heading": ("# ", "\n"), **_FRONT}, _YAML_OWN),
    Parser("passages", lambda text: (passage_ids("a", text, cut_passages(text)), outline(text)), {"": ("", ""), "a page": ("<!-- page 1 -->\n", "\n"), "references": ("# References\n\n", "")}),
    Parser("Markdown to plain text", plain_text, {"": ("", ""), "a line": ("a ", " b\n")}),
    Parser("JATS", _file_reader(JatsReader(), ".nxml"), {"a title": ("<article><front><article-meta><title-group><article-title>", "</article-title></title-group></article-meta></front></article>"), "a paragraph": ("<article><body><p>", "</p></body></article>")},
           {**_xml_own("article", "sec"), **{f"{name} in a body": _wrapped("<article><body>", family, "</body></article>") for name, family in {
               "nested sections": nested("<sec>", "</sec>", "<p>a</p>"),
               "nested italics": nested("<italic>", "</italic>"),
               "nested lists": nested("<list><list-item>", "</list-item></list>", "<p>a</p>"),
               "nested tables": nested("<table><tr><td>", "</td></tr></table>"),
               "many paragraphs": repeated("<p>a</p>"), "many sections": repeated("<sec><title>a</title><p>b</p></sec>"), "many rows": repeated("<tr><td>a</td></tr>", "<table>", "</table>"), "formulas": repeated("<tex-math>a</tex-math>", "<p>", "</p>"), "nested boxes": nested("<boxed-text>", "</boxed-text>", "<p>a</p>"), "articles inside": nested("<article>", "</article>")}.items()}}),
    Parser("JSON lines", _file_reader(JsonLinesReader(), ".jsonl"), {"": ("", ""), "a title": ('{"title":"', '"}')}, {**_json_own("", ""), **{f"{name} in a field": family for name, family in _json_own('{"title":"t","authors":', "}").items()}}),
    Parser("paper_infos.json", _file_reader(PaperInfosReader(), ".json"), {"a title": ('[{"title":"', '"}]'), "bibtex": ('[{"title":"t","bibtex":"', '"}]')}, {**_json_own("", ""), **{f"{name} in a field": family for name, family in _json_own('[{"title":"t","authors":', "}]").items()}}),
    Parser("bibliography as source", _file_reader(BibliographyReader(), ".bib"), {"": ("", ""), "a title": ("@article{k, title = {", "}}")}, _BIBTEX_OWN),
    Parser("paper fields", _front_fields),
    Parser("nodes", _nodes, {"": ("", ""), "a table": ("id,text\n", "\n"), "metadata": ('id,text,metadata\na,b,"', '"\n')}, _json_own("", "")),
    Parser("Crossref abstract", lambda text: tidy_record({"abstract": text}, Doi.parse("10.1234/a"))),
    Parser("model answer", _object_in, {"": ("", ""), "an object": ('{"a":"', '"}')}, _json_own("", "")),
    # no field is longer
    Parser("goal safety", lambda text: (check_goal(text), check_hypothesis(text, text)), largest=20_000),
    Parser("hypotheses to import", _research_import, {"an object": ('{"a":"', '"}')}, _json_own("", "")),
    Parser("concepts of a paper", _chunk, largest=100_000),
]  # fmt: skip

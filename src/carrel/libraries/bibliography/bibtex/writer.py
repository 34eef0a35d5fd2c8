"""CSL-JSON items to BibTeX and BibLaTeX."""

import re
from enum import Enum
from typing import Any

from carrel.libraries.bibliography.bibtex.fields import LOSSLESS_FIELD, EntryReader, TitleCase
from carrel.libraries.bibliography.bibtex.scanner import MONTHS, Scanner
from carrel.libraries.bibliography.bibtex.tex import (
    paragraphs_to_tex,
    path_to_tex,
    plain_to_tex,
    title_to_tex,
    verbatim_to_tex,
)
from carrel.libraries.bibliography.bibtex.vocabulary import VERBATIM_FIELDS
from carrel.libraries.bibliography.citation_keys import distinct_key, make_paper_key
from carrel.libraries.bibliography.dates import export_date
from carrel.libraries.bibliography.imports import CslItem, ImportResult
from carrel.libraries.bibliography.lossless import lossless_difference
from carrel.libraries.csl.name_lists import et_al_variables, names_of
from carrel.libraries.text.budget import until_cancelled


class BibtexDialect(Enum):
    """The two vocabularies that .bib files are written in."""

    BIBTEX = "bibtex"
    BIBLATEX = "biblatex"


_BIBTEX_TYPES = {
    "article-journal": "article", "article-magazine": "article", "article-newspaper": "article",
    "book": "book", "chapter": "incollection", "entry-encyclopedia": "incollection",
    "entry-dictionary": "incollection", "paper-conference": "inproceedings", "thesis": "phdthesis",
    "report": "techreport", "manuscript": "unpublished", "pamphlet": "booklet",
}  # fmt: skip
_BIBLATEX_TYPES = {
    "article-journal": "article", "article-magazine": "article", "article-newspaper": "article",
    "article": "online", "book": "book", "chapter": "incollection",
    "entry-encyclopedia": "inreference", "entry-dictionary": "inreference",
    "paper-conference": "inproceedings", "thesis": "thesis", "report": "report",
    "manuscript": "unpublished", "pamphlet": "booklet", "webpage": "online", "post": "online",
    "post-weblog": "online", "dataset": "dataset", "software": "software", "patent": "patent",
    "periodical": "periodical", "motion_picture": "movie", "broadcast": "video", "song": "audio",
    "graphic": "artwork", "personal_communication": "letter", "performance": "performance",
    "standard": "standard", "legislation": "legislation", "legal_case": "jurisdiction",
    "review": "review",
}  # fmt: skip
_ROLES = {
    "author": "author", "editor": "editor", "translator": "translator",
    "container-author": "bookauthor", "director": "director", "contributor": "collaborator",
    "script-writer": "scriptwriter", "interviewer": "interviewer", "recipient": "recipient",
    "composer": "composer", "illustrator": "illustrator", "performer": "performer",
    "narrator": "narrator", "producer": "producer", "compiler": "compiler",
    "collection-editor": "serieseditor",
}  # fmt: skip
_PLAIN = {
    "volume": "volume", "number-of-volumes": "volumes", "edition": "edition",
    "chapter-number": "chapter", "number-of-pages": "pagetotal", "version": "version",
    "part-number": "part", "status": "pubstate", "archive": "library", "call-number": "call-number",
    "event-place": "venue", "license": "copyright", "container-title-short": "shortjournal",
    "language": "language", "medium": "medium", "original-publisher": "origpublisher",
    "original-publisher-place": "origlocation", "scale": "scale",
    "archive_location": "archive_location", "year-suffix": "year-suffix",
}  # fmt: skip
_VERBATIM = {
    "DOI": "doi",
    "URL": "url",
    "ISBN": "isbn",
    "ISSN": "issn",
    "PMID": "pmid",
    "PMCID": "pmcid",
}
_TITLES = {
    "title-short": "shorttitle",
    "original-title": "origtitle",
    "event-title": "eventtitle",
    "collection-title": "series",
}
_RICH = {"abstract": "abstract", "annote": "annotation", "note": "note"}
_DATES = {"accessed": "urldate", "original-date": "origdate", "event-date": "eventdate"}
_ARTICLES = frozenset(
    {"article-journal", "article-magazine", "article-newspaper", "periodical", "review"}
)
# Kinds of articles that BibLaTeX tells apart by `entrysubtype`.
_SUBTYPES = {"article-magazine": "magazine", "article-newspaper": "newspaper"}
_PARTS = frozenset({"chapter", "paper-conference", "entry-encyclopedia", "entry-dictionary"})
_NOT_IN_KEYS = re.compile(r"[\s,={}()\"#%'\\~@]+")
_FIELD_NAME = re.compile(r"^[a-z][a-z0-9_-]*$")
_MONTH_NAMES = list(MONTHS)
_SEASONS = {1: "Spring", 2: "Summer", 3: "Autumn", 4: "Winter"}
# Names that CSL-JSON has for variables besides their own.
_ALIASES = {
    "journalAbbreviation": "container-title-short",
    "shortTitle": "title-short",
    "event": "event-title",
}


def write_bibtex(items: list[CslItem], dialect: BibtexDialect, *, lossless: bool = False) -> str:
    """One entry for each item, with the fields that other programs know.

    A lossless file has a field `carrel-csl` for what the dialect lacks; it reads back exactly.
    """
    keys = _keys(items)
    entry = _lossless_entry if lossless else _entry
    return "\n".join(
        entry(item, key, dialect) for item, key in until_cancelled(zip(items, keys, strict=True))
    )


def _keys(items: list[CslItem]) -> list[str]:
    """A unique key for each item, since BibTeX rejects a repeated one."""
    keys: list[str] = []
    taken: set[str] = set()
    for item in items:
        wanted = _NOT_IN_KEYS.sub("_", str(item.get("id", ""))).strip("_")
        key = wanted or _generate_key(item)
        if key.lower() in taken:
            key = distinct_key(key, taken)
        taken.add(key.lower())
        keys.append(key)
    return keys


def _generate_key(item: CslItem) -> str:
    lists = (item.get(role) for role in ("author", "editor"))
    first = next(
        (
            names[0]
            for names in lists
            if isinstance(names, list) and names and isinstance(names[0], dict)
        ),
        {},
    )
    year = _first_date(export_date(item.get("issued")))
    return make_paper_key(
        _text(first.get("family") or first.get("literal")),
        year[0] if year else None,
        _text(item.get("title")),
    )


def _entry(item: CslItem, key: str, dialect: BibtexDialect, *further: str) -> str:
    fields = _Fields(item, dialect)
    lines = [f"  {name} = {value}," for name, value in fields.written().items()]
    return "\n".join([f"@{fields.entry_type()}{{{key},", *lines, *further, "}", ""])


def _lossless_entry(item: CslItem, key: str, dialect: BibtexDialect) -> str:
    text = _entry(item, key, dialect)
    kept = lossless_difference(item, *(_interpret(text, titles) for titles in TitleCase))
    return _entry(item, key, dialect, f"  {LOSSLESS_FIELD} = {{{kept}}},") if kept else text


def _interpret(text: str, titles: TitleCase) -> CslItem:
    entry = next(iter(Scanner(text, ImportResult()).entries()))
    return EntryReader(titles).read(entry)


class _Fields:
    """The fields of one entry, as they are written."""

    def __init__(self, item: CslItem, dialect: BibtexDialect) -> None:
        self._item = {
            variable: item[alias] for alias, variable in _ALIASES.items() if alias in item
        } | item
        self._is_biblatex = dialect is BibtexDialect.BIBLATEX
        self._kind = str(item.get("type", ""))
        self._fields: dict[str, str] = {}
        self._et_al = et_al_variables(item)

    def entry_type(self) -> str:
        if self._is_biblatex:
            return _BIBLATEX_TYPES.get(self._kind, "misc")
        if self._kind == "thesis" and "master" in str(self._item.get("genre", "")).lower():
            return "mastersthesis"
        return _BIBTEX_TYPES.get(self._kind, "misc")

    def written(self) -> dict[str, str]:
        item = self._item
        for variable, name in _ROLES.items():
            people = item.get(variable)
            known = names_of(people)
            names = [_name(person, self._is_biblatex) for person in known]
            self._put(
                name,
                " and ".join(
                    [*filter(None, names), *(["others"] if variable in self._et_al else [])]
                ),
            )
        if self._is_biblatex:
            self._put("entrysubtype", _SUBTYPES.get(self._kind, ""))
        self._put("title", title_to_tex(_text(item.get("title"))))
        self._container()
        for variable, name in _TITLES.items():
            self._put(name, title_to_tex(_text(item.get(variable))))
        self._date()
        for variable, name in _DATES.items():
            self._put(name, _edtf(export_date(item.get(variable))))
        self._numbers()
        self._publisher()
        for variable, name in _PLAIN.items():
            # An abbreviated name that is all that is known of a journal is read back as such.
            if name != "shortjournal" or item.get(variable) != item.get("container-title"):
                self._put(name, plain_to_tex(_text(item.get(variable))))
        for variable, name in _VERBATIM.items():
            self._put(name, verbatim_to_tex(_text(item.get(variable))))
        for variable, name in _RICH.items():
            self._put(
                "annote" if name == "annotation" and not self._is_biblatex else name,
                paragraphs_to_tex(_text(item.get(variable))),
            )
        words = [word.strip() for word in _text(item.get("keyword")).split(";") if word.strip()]
        self._put(
            "keywords",
            plain_to_tex("; ".join(words))
            if any("," in word for word in words)
            else plain_to_tex(", ".join(words)),
        )
        genre = _text(item.get("genre"))
        if genre and not (
            self.entry_type() in {"phdthesis", "mastersthesis"}
            and genre in {"PhD thesis", "Master's thesis"}
        ):
            self._put("type", plain_to_tex(genre))
        self._others()
        return self._fields

    def _put(self, name: str, value: str) -> None:
        if value and name not in self._fields:
            self._fields[name] = f"{{{value}}}"

    def _container(self) -> None:
        container = _text(self._item.get("container-title"))
        if self._kind in _ARTICLES:
            self._put("journaltitle" if self._is_biblatex else "journal", plain_to_tex(container))
        elif container:
            is_part = self._kind in _PARTS
            self._put(
                "booktitle" if is_part else "journaltitle" if self._is_biblatex else "journal",
                title_to_tex(container) if is_part else plain_to_tex(container),
            )

    def _date(self) -> None:
        issued = export_date(self._item.get("issued"))
        if self._is_biblatex:
            self._put("date", _edtf(issued))
            return
        parts = _first_date(issued)
        if parts:
            self._put("year", _years(issued))
            if len(parts) > 1 and 1 <= parts[1] <= 12:
                self._fields["month"] = _MONTH_NAMES[parts[1] - 1]
            elif len(parts) == 1 and issued.get("season") in _SEASONS:
                self._put("month", _SEASONS[issued["season"]])
            if len(parts) > 2:
                self._put("day", str(parts[2]))
        else:
            self._put("year", plain_to_tex(_text(issued.get("literal") or issued.get("raw"))))

    def _numbers(self) -> None:
        item = self._item
        self._put("pages", plain_to_tex(_text(item.get("page"))).replace("-", "--"))
        if self._kind in _ARTICLES or (self._kind in _PARTS and "collection-title" not in item):
            self._put("number", plain_to_tex(_text(item.get("issue"))))
            self._put("eid", plain_to_tex(_text(item.get("number"))))
        else:
            self._put(
                "number", plain_to_tex(_text(item.get("collection-number") or item.get("number")))
            )
            self._put("issue", plain_to_tex(_text(item.get("issue"))))

    def _publisher(self) -> None:
        name = "publisher"
        if self._kind == "thesis":
            name = "institution" if self._is_biblatex else "school"
        elif self._kind == "report":
            name = "institution"
        self._put(name, plain_to_tex(_text(self._item.get("publisher"))))
        self._put(
            "location" if self._is_biblatex else "address",
            plain_to_tex(_text(self._item.get("publisher-place"))),
        )

    def _others(self) -> None:
        custom = self._item.get("custom")
        if not isinstance(custom, dict):
            return
        arxiv = _text(custom.get("arxiv_id"))
        if arxiv:
            self._put("eprint", verbatim_to_tex(arxiv))
            self._put("eprinttype" if self._is_biblatex else "archiveprefix", "arXiv")
        others = custom.get("fields")
        for name, value in others.items() if isinstance(others, dict) else ():
            if _FIELD_NAME.match(str(name)) and isinstance(value, str):
                self._put(name, _other_field(str(name), value))


def _other_field(name: str, value: str) -> str:
    if name == "holder":
        return " and ".join(map(_holder, value.split("; ")))
    return path_to_tex(value) if name in VERBATIM_FIELDS else plain_to_tex(value)


def _holder(name: str) -> str:
    """A holder of a patent; without a comma it is an institution, whose words are no two names."""
    if name == "et al.":
        return "others"
    return plain_to_tex(name) if "," in name else f"{{{plain_to_tex(name)}}}"


def _text(value: Any) -> str:
    return (
        value
        if isinstance(value, str)
        else str(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool)
        else ""
    )


def _name(person: dict[str, Any], is_biblatex: bool) -> str:
    literal = _text(person.get("literal"))
    if literal:
        return f"{{{plain_to_tex(literal)}}}"
    family, given, suffix = (
        _part(_text(person.get(part))) for part in ("family", "given", "suffix")
    )
    particle, dropped = (
        _text(person.get("non-dropping-particle")),
        _text(person.get("dropping-particle")),
    )
    if dropped and is_biblatex:
        # biblatex has one prefix; what sorts with the family stays with it.
        named = {
            "family": _part(" ".join(filter(None, (particle, _text(person.get("family")))))),
            "given": given,
            "suffix": suffix,
            "prefix": _part(dropped),
            "useprefix": "false",
        }
        return ", ".join(f"{part}={value}" for part, value in named.items() if value)
    words = family.split()
    if words and words[0][:1].islower():
        family = f"{{{family}}}"
    # BibTeX knows no particles that are dropped, but they are part of the name.
    particles = (plain_to_tex(dropped), plain_to_tex(particle))
    whole = " ".join(part for part in (*particles, family) if part)
    return (
        ", ".join([whole, *([suffix] if suffix else []), *([given] if given else [])])
        if given or suffix
        else f"{{{whole}}}"
    )


def _part(text: str) -> str:
    """A part of a name; what would be read as a separator stands in braces."""
    written = plain_to_tex(text)
    return (
        f"{{{written}}}"
        if "," in text or re.search(r"(?:^|\s)and(?:\s|$)", text, re.IGNORECASE)
        else written
    )


def _years(date: dict[str, Any]) -> str:
    """The year; for a time of several years the first and the last."""
    years = [str(parts[0]) for parts in date["date-parts"]]
    is_span = (
        len(years) == 2 and years[1] != "0" and all(len(parts) == 1 for parts in date["date-parts"])
    )
    return "--".join(years) if is_span else years[0]


def _first_date(date: Any) -> list[int]:
    if (
        not isinstance(date, dict)
        or not isinstance(date.get("date-parts"), list)
        or not date["date-parts"]
    ):
        return []
    parts = date["date-parts"][0]
    return (
        parts
        if isinstance(parts, list)
        and all(isinstance(part, int) and not isinstance(part, bool) for part in parts)
        else []
    )


def _edtf(date: Any) -> str:
    """A CSL date as BibLaTeX writes dates; a literal one as it is."""
    if not isinstance(date, dict):
        return ""
    points = date.get("date-parts")
    if not isinstance(points, list) or not points:
        return plain_to_tex(_text(date.get("literal") or date.get("raw")))
    written: list[str] = []
    for parts in points:
        if (
            not isinstance(parts, list)
            or not parts
            or not all(isinstance(part, int) for part in parts)
        ):
            return ""
        if parts == [0]:
            written.append("")
            continue
        year = f"{'-' if parts[0] < 0 else ''}{abs(parts[0]):04d}"
        season = date.get("season")
        month = (
            [f"{20 + season}"]
            if isinstance(season, int) and len(parts) == 1 and 1 <= season <= 4
            else [f"{part:02d}" for part in parts[1:3]]
        )
        written.append("-".join([year, *month]) + ("~" if date.get("circa") else ""))
    return "/".join(written)

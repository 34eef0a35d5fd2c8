"""Jobs drawn by seed: a style, a locale, items of all types with odd values, and clusters."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from carrel.libraries.csl.archive import archived_names, archived_styles, read_archived
from carrel.libraries.csl.schema import ITEM_TYPES

Item = dict[str, Any]
Cluster = dict[str, Any]

FAMILIES = (
    "Doe", "Roe", "Smith", "Müller", "García Márquez", "O’Neil", "de Boer", "Ångström", "李",
    "Nguyễn", "Иванов", "MacDonald", "Smith-Jones", "D'Alembert", "van Gogh", "al-Khwārizmī",
)  # fmt: skip
GIVENS = (
    "John", "Jane", "J.", "J. R. R.", "Jean-Luc", "Jean Paul", "María José", "明", "Ю.", "John A.",
    "Å. B.", "Thomas S.", "G. K.", "M.-J.", "Anna", "Adam", "john", "J", "JR",
)  # fmt: skip
PARTICLES = ("van", "von", "de la", "van der", "d'", "al-")
GROUPS = ("World Health Organization", "NASA", "The <i>E. coli</i> Consortium", "CERN & partners")
TITLES = (
    "A study of things", "The Structure of Scientific Revolutions", "On DNA: a short history",
    "“Quoted” words and 'others'", "Is it true?", "Stop!", "The <i>Drosophila</i> genome",
    "H<sub>2</sub>O and CO<sup>2</sup>", "the lower-case title of a work", "ALL CAPITALS HERE",
    "Über die Grundlagen", "Étude sur l’être", "A title that ends with a stop.", "Iron Man 3.0",
    "From clinicaltrials.gov to practice", "Of mice and men; and other tales", "C++ in depth",
    "What is <i>“life”</i>?", "Résumé—again", "iPhone use in the U.S. and the UK",
    'The "straight" quotes', "Notes & queries", "Parenthetical (again) remarks",
    "Title with <span class=\"nocase\">pH Value</span> kept", "中文标题", "1984",
)  # fmt: skip
CONTAINERS = (
    "Nature", "Journal of Things", "The Annals of “Quoted” Science", "Proc. Natl. Acad. Sci.",
    "Lecture Notes in Computer Science", "Zeitschrift für Physik", "PLoS ONE", "Science?",
)  # fmt: skip
PAGES = (
    "1", "1-9", "101-109", "1101–1109", "321–328", "42-45", "e00127-20", "E12-E18", "xi-xv",
    "12, 15-17", "100-104", "1536–1538", "S12–S18", "i", "123456", "1 - 5", "96–117",
)  # fmt: skip
NUMBERS = ("1", "12", "2nd", "3a", "IV", "1-3", "2 & 4", "12-14", "Suppl. 1", "special issue", "B")
LOCATORS = ("3", "3-5", "iv", "3, 7", "3–5, 9", "12a", "101-109", "Fig. 2", "5 & 6", "123-125")
LABELS = ("page", "chapter", "section", "figure", "volume", "paragraph", "line", "note", "book")
MODES = ("author-only", "suppress-author", "composite")
PREFIXES = ("see ", "see also", "e.g., ", "cf. ", "(", "“")
SUFFIXES = (", passim", " and others", ".", ", emphasis added", " (n. 3)", "?")
DATES: tuple[dict[str, Any], ...] = (
    {"date-parts": [[2001]]},
    {"date-parts": [[2001, 5]]},
    {"date-parts": [[2001, 5, 3]]},
    {"date-parts": [[2001, 12, 31]]},
    {"date-parts": [[2001], [2003]]},
    {"date-parts": [[2001, 5], [2001, 7]]},
    {"date-parts": [[2001, 5, 3], [2001, 5, 9]]},
    {"date-parts": [[2001, 12, 30], [2002, 1, 2]]},
    {"date-parts": [[2001]], "season": 2},
    {"date-parts": [[2001]], "circa": True},
    {"literal": "in press"},
    {"raw": "2001-05"},
    {"date-parts": [[-44]]},
    {"date-parts": [[99]]},
    {"date-parts": [["1962"]]},
    {"date-parts": [[2020, 2]]},
)
LANGUAGES = ("en", "en-US", "de", "fr-FR", "zh")
TEXTS: dict[str, tuple[str, ...]] = {
    "publisher": ("Oxford University Press", "Wiley & Sons", "MIT Press"),
    "publisher-place": ("Oxford", "New York, NY", "Köln"),
    "DOI": ("10.1000/xyz123", "10.1002/(SICI)1097-0258(19980815)17:15<1661::AID>3.0.CO;2-2"),
    "URL": ("https://example.org/a?b=c&d=e", "http://www.example.com/~x/"),
    "ISBN": ("978-3-16-148410-0",),
    "ISSN": ("1234-5678",),
    "genre": ("PhD thesis", "working paper"),
    "medium": ("CD-ROM", "video"),
    "note": ("A note.", "original-date: 1999", "Some text\neditor: Roe || Ann"),
    "abstract": ("Short abstract.",),
    "collection-title": ("Studies in Things", "Lecture Notes"),
    "title-short": ("Things", "Structure"),
    "container-title-short": ("Nat.", "J Things"),
    "event-title": ("Conference on Things",),
    "event-place": ("Paris",),
    "archive": ("National Archives",),
    "archive_location": ("Box 3",),
    "authority": ("Supreme Court",),
    "references": ("a b c",),
    "section": ("3", "§ 5"),
    "status": ("in press",),
    "version": ("2.0", "10.3.1"),
    "source": ("JSTOR",),
    "PMID": ("12345",),
    "PMCID": ("PMC123",),
    "call-number": ("QA 76",),
    "annote": ("annotated",),
    "keyword": ("a, b",),
    "dimensions": ("2 h",),
    "scale": ("1:1000",),
    "original-title": ("Der Originaltitel",),
    "original-publisher": ("Springer",),
    "original-publisher-place": ("Berlin",),
    "reviewed-title": ("The reviewed book",),
    "citation-label": ("Doe01",),
}
NUMERIC = (
    "volume", "issue", "edition", "number", "chapter-number", "collection-number",
    "number-of-pages", "number-of-volumes", "part-number", "supplement-number",
)  # fmt: skip
PEOPLE = (
    "translator", "container-author", "collection-editor", "director", "composer",
    "illustrator", "interviewer", "recipient", "reviewed-author", "original-author",
    "editorial-director",
)  # fmt: skip
_LIKELY = frozenset({"publisher", "publisher-place", "DOI", "URL"})
OTHER_DATES = ("accessed", "original-date", "event-date", "submitted")


@dataclass(frozen=True)
class Job:
    """What both engines render."""

    style: str
    locale: str
    items: list[Item]
    clusters: list[Cluster] = field(default_factory=list)


def independent_styles() -> list[str]:
    return [style.id for style in archived_styles() if not style.parent]


def locales() -> list[str]:
    names = archived_names()
    return [name.removeprefix("locales-") for name in names if name.startswith("locales-")]


@cache
def default_locale(style: str) -> str:
    """The locale that a style names as its own; nothing where it is for any."""
    found = re.search(r'<style\b[^>]*\bdefault-locale="([^"]+)"', read_archived(style) or "")
    return found[1] if found and found[1] in locales() else ""


def draw_person(random: random.Random) -> dict[str, Any]:
    if random.random() < 0.08:
        return {"literal": random.choice(GROUPS)}
    person: dict[str, Any] = {"family": random.choice(FAMILIES)}
    if random.random() < 0.93:
        person["given"] = random.choice(GIVENS)
    if random.random() < 0.06:
        person["suffix"] = random.choice(("Jr.", "III", "PhD"))
    if random.random() < 0.08:
        kind = random.choice(("non-dropping-particle", "dropping-particle"))
        person[kind] = random.choice(PARTICLES)
    return person


def draw_people(random: random.Random) -> list[dict[str, Any]]:
    count = random.choices((1, 2, 3, 4, 5, 8, 12), (6, 5, 4, 2, 1, 1, 0.5))[0]
    return [draw_person(random) for _ in range(count)]


def draw_item(draws: random.Random, before: list[Item]) -> Item:
    """An item; now and then one that shares people and year with an earlier one."""
    item: Item = {"type": draws.choice(sorted(ITEM_TYPES))}
    if draws.random() < 0.6:
        item["type"] = draws.choice(("article-journal", "book", "chapter", "paper-conference"))
    for name, values, chance in (
        ("title", TITLES, 0.95),
        ("container-title", CONTAINERS, 0.7),
        ("page", PAGES, 0.6),
        ("language", LANGUAGES, 0.1),
        *((name, values, 0.4 if name in _LIKELY else 0.05) for name, values in TEXTS.items()),
    ):
        if draws.random() < chance:
            item[name] = draws.choice(values)
    for name in NUMERIC:
        if draws.random() < (0.5 if name in {"volume", "issue"} else 0.1):
            item[name] = draws.choice(NUMBERS[:2] if draws.random() < 0.6 else NUMBERS)
    for name, chance in (("author", 0.9), ("editor", 0.25), *((name, 0.03) for name in PEOPLE)):
        if draws.random() < chance:
            item[name] = draw_people(draws)[: None if name == "author" else 3]
    if draws.random() < 0.92:
        item["issued"] = draws.choice(DATES[:7] if draws.random() < 0.8 else DATES)
    for name in OTHER_DATES:
        if draws.random() < (0.2 if name == "accessed" else 0.06):
            item[name] = draws.choice(DATES[:4])
    return _like_another(draws, item, before)


def _like_another(draws: random.Random, item: Item, before: list[Item]) -> Item:
    if before and draws.random() < 0.35:
        other = draws.choice(before)
        for name in ("author", "issued", "title"):
            if name in other and draws.random() < 0.75:
                item[name] = other[name]
    return item


def draw_cluster(random: random.Random, count: int, note: int) -> Cluster:
    cites = []
    for _ in range(random.choices((1, 2, 3), (7, 3, 1))[0]):
        cite: dict[str, Any] = {"id": str(random.randrange(count))}
        if random.random() < 0.3:
            cite["locator"] = random.choice(LOCATORS)
            cite["label"] = random.choice(LABELS) if random.random() < 0.5 else "page"
        if random.random() < 0.08:
            cite["prefix"] = random.choice(PREFIXES)
        if random.random() < 0.08:
            cite["suffix"] = random.choice(SUFFIXES)
        if random.random() < 0.05:
            cite["suppress-author"] = True
        cites.append(cite)
    cluster: Cluster = {"note": note, "items": cites}
    if random.random() < 0.06:
        cluster["mode"] = random.choice(MODES)
    return cluster


def draw_job(seed: int, styles: list[str], languages: list[str]) -> Job:
    """The job of a seed: the same for ever, while styles and lists stay."""
    draws = random.Random(seed)
    style = draws.choice(styles)
    # A style that is written for a language is used in it.
    locale = default_locale(style) or draws.choice(languages)
    items: list[Item] = []
    for _ in range(draws.randint(1, 5)):
        items.append(draw_item(draws, items))
    items = [{**item, "id": str(number)} for number, item in enumerate(items)]
    clusters = [draw_cluster(draws, len(items), note) for note in range(1, draws.randint(0, 5) + 1)]
    if clusters:
        # Works that nobody cites are numbered by citeproc-js in the order in which it hears of
        # them, which is the harness's. A bibliography without citations has them all.
        cited = {cite["id"] for cluster in clusters for cite in cluster["items"]}
        items = [item for item in items if item["id"] in cited]
    return Job(style, locale, items, clusters)

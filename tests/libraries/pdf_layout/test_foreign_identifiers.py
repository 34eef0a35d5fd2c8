"""Made pages full of others' DOIs, arXiv ids and years: none of them is ever the paper's own."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable, Sequence

import pytest

from carrel.libraries.pdf_layout.content import PageContent, PdfContent
from carrel.libraries.pdf_layout.title_page import TitlePage, read_title_page
from tests.libraries.pdf_layout.page_lines import HEIGHT, PROSE, WIDTH, Printed, make_line

OWN = "10.1234/own.2019.7"
OWN_YEAR = "2019"
TITLES = (
    "On Engines and Their Makers",
    "Slow rivers carry more sand than fast ones in winter",
    "A Survey of Data and Software for Small Engines",
    "Error correction in noisy channels",
    "Bayesian Models of the Growth of Trees",
)
AUTHORS = ("Ada Lovelace and Charles Babbage", "Ana Gómez, Peter J. O’Neill, Li Wei", "Jo Roe")
DOI_FORMS = (
    "doi:{}",
    "doi: {}",
    "DOI {}",
    "https://doi.org/{}",
    "http://dx.doi.org/{}",
    "(doi:{})",
    "DOI: https://doi.org/{}",
)
# {d} is a DOI of others, {a} an arXiv id, {y} a year.
SENTENCES = (
    "We use {d}.",
    "We use {d} and compare it with the results of arXiv:{a} from {y}.",
    "This article extends {d}, which came out in {y}.",
    "This paper builds on earlier work of Jones ({y}), {d}.",
    "{y} {y} {y} {y} arXiv:{a} and {d}",
    "Copyright {y} is in the text.",
    "Work published in {y} and {y} and {y}, see {d}.",
    "See {d} for the proofs, which were found in May {y}.",
    "Data are available at {d}.",
    "Data availability: {d}",
    "The data can be found in the archive of the institute: {d} (accessed 3 May {y}).",
    "The code of the model is kept at {d}.",
    "As shown by Smith et al. [12], {d}, engines of the year {y} were slower.",
    "They follow {d} in all that concerns the making of engines.",
    "Following Jones, {d}, we measured each engine twice.",
    "Our results agree with those of Brown, J. Tests 12 ({y}) 1-9, {d}.",
    "The method was published online 3 May {y} by Brown and others, {d}.",
    "An engine was shown in Bonn, May 3, {y}, by its makers.",
    "The figure is reproduced from Brown, © {y} Others, {d}, with permission.",
    "It was shown in arXiv:{a} [cs.CL] that engines differ.",
    "Wir nutzen {d} aus dem Jahr {y}.",
    "Nous suivons la méthode de Dupont ({y}), {d}, pour les moteurs.",
    "Usamos los datos de García ({y}), {d}, en todo el texto.",
    "After much thought the committee of {y} chose the design that is given in {d} and in arXiv:{a}"
    " over all of the others that had been handed in before the end of that year.",
)
NOTES = (
    "1 Jones, A. Engines of the north. J. Tests 12 ({y}) 1-9. {d}",
    "2 B. Brown, Engines and people, Int J Tests ({y}) 115:211-252, {d}",
    "* See {d} for an earlier text of {y}.",
    "3 {d}",
    "† Data: {d}",
    "1 © {y} Others, {d}",
    "4 Published: 3 May {y}, {d}",
)
REFERENCES = (
    "[1] A. Jones. Engines of the north. J. Tests 12 ({y}) 1-9. {d}",
    "2. Brown B (1981) Engines and people. Int J Tests 115:211-252. {d}",
    "Smith, C. ({y}). Engines. arXiv:{a} [cs.CL].",
    "Vaswani, A. Attention to engines. arXiv preprint arXiv:{a}, {y}.",
)
PLACES = ("before", "abstract", "introduction", "data", "note", "references")
SEEDS = range(50)


class Page:
    """A page that is written from top to bottom; all text is the chance of one seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.body = self.chance.choice((9.0, 10.0, 11.0))
        self.left = self.chance.choice((50.0, 72.0))
        self.width = self.chance.choice((34, 60, 85))
        self.title = self.chance.choice(TITLES)
        self.y = self.chance.choice((40.0, 60.0, 95.0))
        self.lines: list[Printed] = []

    def put(self, text: str, size: float | None = None, gap: float = 0.0) -> None:
        size = size or self.body
        self.y += gap + 1.25 * size
        self.lines.append(Printed(text, size, self.y, self.left))

    def put_text(self, text: str, size: float | None = None, gap: float = 0.0) -> None:
        for at, line in enumerate(
            textwrap.wrap(text, self.width, break_on_hyphens=False, break_long_words=False)
        ):
            self.put(line, size, gap if at == 0 else 0.0)

    def put_at(self, y: float, *texts: str, size: float = 7.0) -> None:
        for at, text in enumerate(texts):
            self.lines.append(Printed(text, size, y + 1.2 * size * at, self.left))

    def make_foreign(self, texts: Sequence[str]) -> str:
        chance = self.chance
        doi = f"10.9999/other.{chance.randint(1, 999)}"
        return chance.choice(texts).format(
            d=chance.choice(DOI_FORMS).format(doi),
            a=f"9{chance.randint(100, 999)}.{chance.randint(10000, 99999)}",
            y=chance.randint(1950, 1989),
        )

    def mix(self, is_foreign: bool) -> str:
        """A paragraph of prose, perhaps with a sentence on others at any place in it."""
        parts = [" ".join(PROSE)] * self.chance.randint(1, 2)
        if is_foreign:
            parts.insert(self.chance.randint(0, len(parts)), self.make_foreign(SENTENCES))
        return " ".join(parts)

    def read(self) -> TitlePage:
        lines = tuple(make_line(line, line.y or 0.0) for line in self.lines if line.text)
        return read_title_page(PdfContent((PageContent(1, WIDTH, HEIGHT, lines),), (), {}, "", ()))


def write_page(
    seed: int, places: Sequence[str], head: Sequence[str] = (), below_authors: Sequence[str] = ()
) -> Page:
    """A title page with what others did at these places."""
    page = Page(seed)
    for text in head:
        page.put(text, 8.0)
    page.put(page.title, 18.0, gap=20.0)
    page.put(page.chance.choice(AUTHORS), 11.0, gap=8.0)
    page.put("Department of Engines, University of Somewhere", 9.0)
    for text in below_authors:
        page.put(text, 8.0, gap=3.0)
    if "before" in places:
        size = page.chance.choice((8.0, page.body))
        page.put_text(page.make_foreign(SENTENCES), size, gap=page.chance.choice((4.0, 14.0)))
    page.put("Abstract", page.body + 1, gap=14.0)
    page.put_text(page.mix("abstract" in places))
    page.put(page.chance.choice(("1 Introduction", "Introduction", "1. Background")), 12.0, 10.0)
    page.put_text(page.mix("introduction" in places))
    if "data" in places:
        page.put(page.chance.choice(("Data availability", "Data", "Code and data")), 11.0, 8.0)
        page.put_text(page.make_foreign(("{d}", "Data are available at {d}.", *SENTENCES)))
    if "references" in places:
        page.put("References", 12.0, 8.0)
        for _ in range(page.chance.randint(1, 3)):
            page.put_text(page.make_foreign(REFERENCES), page.chance.choice((8.0, page.body)))
    if "note" in places and page.y < 690:
        y = page.chance.choice((700.0, 740.0, 765.0))
        note = textwrap.wrap(
            page.make_foreign(NOTES), 90, break_on_hyphens=False, break_long_words=False
        )
        page.put_at(y, *note, size=page.chance.choice((7.0, 8.0)))
    return page


def put_foot(page: Page, *texts: str, y: float = 795.0) -> None:
    page.put_at(y, *texts)


def own_above_title(seed: int, places: Sequence[str]) -> Page:
    return write_page(seed, places, [f"Journal of Tests 12 (2019) 1-9, https://doi.org/{OWN}"])


def own_alone_above_title(seed: int, places: Sequence[str]) -> Page:
    return write_page(seed, places, ["Journal of Tests 12 (2019) 1-9", f"DOI: {OWN}"])


def own_below_authors(seed: int, places: Sequence[str]) -> Page:
    places = [place for place in places if place != "before"]
    return write_page(seed, places, (), [f"https://doi.org/{OWN}", "Published: 3 May 2019"])


def own_alone_in_foot(seed: int, places: Sequence[str]) -> Page:
    page = write_page(seed, places, ["Journal of Tests 12 (2019) 1-9"])
    put_foot(page, f"https://doi.org/{OWN}")
    return page


def own_in_running_foot(seed: int, places: Sequence[str]) -> Page:
    page = write_page(seed, places)
    put_foot(page, f"J Tests 2019;12:101–109. https://doi.org/{OWN}")
    return page


def own_in_how_to_cite(seed: int, places: Sequence[str]) -> Page:
    page = write_page(seed, places, ["Published: 3 May 2019"])
    label = page.chance.choice(("Citation: ", "How to cite: ", "To cite this article: "))
    text = f"{label}Lovelace A ({OWN_YEAR}) {page.title}. J. Tests 12: 1-9. https://doi.org/{OWN}"
    y = max(page.y, *(line.y or 0.0 for line in page.lines)) + 25
    page.put_at(
        y, *textwrap.wrap(text, 50, break_on_hyphens=False, break_long_words=False), size=6.0
    )
    return page


def own_in_imprint(seed: int, places: Sequence[str]) -> Page:
    page = write_page(seed, [place for place in places if place != "note"])
    put_foot(page, "© 2019 The Authors. All rights reserved.", f"https://doi.org/{OWN}", y=770.0)
    return page


OWN_PLACES = (
    own_above_title,
    own_alone_above_title,
    own_below_authors,
    own_alone_in_foot,
    own_in_running_foot,
    own_in_how_to_cite,
    own_in_imprint,
)


def choose_places(seed: int) -> list[str]:
    chance = random.Random(seed + 100_000)
    return chance.sample(PLACES, chance.randint(1, 4))


def describe(page: Page) -> str:
    return "\n".join(f"{line.y:6.1f} {line.size:4.1f} {line.text}" for line in page.lines)


@pytest.mark.promise("P14")
@pytest.mark.parametrize("place", PLACES)
def test_nothing_of_others_is_taken_at_a_place(place: str) -> None:
    for seed in SEEDS:
        page = write_page(seed, [place])
        found = page.read()
        assert (found.doi, found.arxiv_id, found.date) == (None, None, None), describe(page)
        assert found.related == (), describe(page)


def test_nothing_of_others_is_taken_at_several_places() -> None:
    for seed in SEEDS:
        page = write_page(seed, choose_places(seed))
        found = page.read()
        assert (found.doi, found.arxiv_id, found.date) == (None, None, None), describe(page)
        assert found.related == (), describe(page)


@pytest.mark.parametrize(
    ("title", "line", "date"),
    [
        ("The Unrest of May 1968 in Paris", "", None),
        ("An Introduction as of Feb. 2005", "November 10, 2022", None),
        ("The Unrest of May 1968 in Paris", "Published: 3 May 2019", "2019-05-03"),
    ],
)
def test_the_year_of_a_title_is_not_that_of_the_paper(
    title: str, line: str, date: str | None
) -> None:
    page = Page(1)
    page.put(title, 18.0)
    page.put("Jo Roe", 11.0, gap=8.0)
    page.put(line, gap=8.0)
    page.put("Abstract", 11.0, gap=14.0)
    page.put_text(page.mix(is_foreign=False))
    found = page.read().date
    assert (found.value if found else None) == date


def test_the_full_stop_of_a_doi_does_not_take_the_line_below() -> None:
    page = write_page(1, [], [f"Journal of Tests, doi: {OWN}.", "Article"])
    found = page.read().doi
    assert found is not None and found.value == OWN


@pytest.mark.parametrize("write", OWN_PLACES, ids=lambda write: write.__name__)
def test_the_papers_own_doi_is_found_among_others(
    write: Callable[[int, Sequence[str]], Page],
) -> None:
    for seed in SEEDS:
        page = write(seed, choose_places(seed))
        if max(line.y or 0.0 for line in page.lines) > HEIGHT - 10 or page.y > 690:
            continue
        found = page.read()
        assert found.doi is not None and found.date is not None, describe(page)
        assert (found.doi.value, found.date.value[:4]) == (OWN, OWN_YEAR), describe(page)
        assert found.arxiv_id is None, describe(page)

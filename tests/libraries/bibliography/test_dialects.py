"""Works drawn by seed, written as other programs write them, and read back."""

from dataclasses import dataclass
from html import escape
from random import Random

import pytest

from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.imports import CslItem

SEEDS = range(40)
_FAMILIES = ("Müller", "O'Brien", "Smith-Jones", "Şahin", "Łukasik", "Ng", "Dvořák")
_GIVEN = ("Anna", "J. R.", "Émile", "Hans-Peter", "Li")
_WORDS = ("DNA", "repair", "of", "β-catenin", "in", "Escherichia", "coli", "50%", "R&D", "and")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True)
class Work:
    """An article of a journal, as every program can say it."""

    people: tuple[tuple[str, str], ...]
    title: str
    journal: str
    year: int
    month: int
    day: int
    volume: str
    issue: str
    first: int
    last: int
    doi: str
    issn: str
    words: tuple[str, ...]
    abstract: str

    @property
    def expected(self) -> CslItem:
        return {
            "type": "article-journal",
            "author": [{"family": family, "given": given} for family, given in self.people],
            "title": self.title,
            "container-title": self.journal,
            "volume": self.volume,
            "issue": self.issue,
            "page": f"{self.first}-{self.last}",
            "DOI": self.doi,
            "ISSN": self.issn,
            "abstract": self.abstract,
            "keyword": "; ".join(self.words),
        }


def draw(seed: int) -> Work:
    random = Random(seed)
    first = random.randint(1, 900)
    return Work(
        people=tuple(
            (random.choice(_FAMILIES), random.choice(_GIVEN)) for _ in range(random.randint(1, 4))
        ),
        title=" ".join(["Notes", *random.choices(_WORDS, k=random.randint(2, 7)), "today"]),
        journal=random.choice(("Nature & Science", "Zeitschrift für Physik", "Cell")),
        year=random.randint(1950, 2025),
        month=random.randint(1, 12),
        day=random.randint(1, 28),
        volume=str(random.randint(1, 400)),
        issue=random.choice(("1", "3-4", "Suppl 2")),
        first=first,
        last=first + random.randint(1, 30),
        doi=f"10.{random.randint(1000, 9999)}/abc.{random.randint(1, 99)}",
        issn=f"{random.randint(1000, 9999)}-{random.randint(1000, 9999)}",
        words=tuple(random.sample(("ageing", "repair kinetics", "mice", "cell cycle"), k=3)),
        abstract=f"We show {random.choice(_WORDS)} (p < 0.05) in {random.randint(2, 99)} cases.",
    )


def _tex(text: str) -> str:
    return text.replace("&", r"{\&}").replace("%", r"{\%}").replace("<", r"{\textless}")


def write_mendeley(work: Work) -> str:
    names = " and ".join(f"{family}, {given}" for family, given in work.people)
    return (
        f"@article{{Key{work.year},\nabstract = {{{_tex(work.abstract)}}},\nauthor = {{{names}}},\n"
        f"doi = {{{work.doi}}},\nissn = {{{work.issn}}},\njournal = {{{_tex(work.journal)}}},\n"
        f"keywords = {{{','.join(work.words)}}},\nmonth = {{{_MONTHS[work.month - 1]}}},\n"
        f"number = {{{work.issue}}},\npages = {{{work.first}--{work.last}}},\n"
        f"title = {{{{{_tex(work.title)}}}}},\nvolume = {{{work.volume}}},\n"
        f"year = {{{work.year}}}\n}}"
    )


def write_biblatex(work: Work) -> str:
    names = " and ".join(f"family={family}, given={given}" for family, given in work.people)
    plain = {name: text.replace("&", r"\&").replace("%", r"\%") for name, text in vars(work).items()
             if isinstance(text, str)}  # fmt: skip
    return (
        f"@article{{key,\n  title = {{{plain['title'].replace('DNA', '{{DNA}}')}}},\n"
        f"  author = {{{names}}},\n  date = {{{work.year}-{work.month:02d}-{work.day:02d}}},\n"
        f"  journaltitle = {{{plain['journal']}}},\n  volume = {{{work.volume}}},\n"
        f"  number = {{{work.issue}}},\n  pages = {{{work.first}--{work.last}}},\n"
        f"  issn = {{{work.issn}}},\n  doi = {{{work.doi}}},\n"
        f"  abstract = {{{plain['abstract']}}},\n  keywords = {{{', '.join(work.words)}}},\n}}"
    )


def write_endnote_ris(work: Work) -> str:
    lines = ["TY  - JOUR", *(f"AU  - {family}, {given}" for family, given in work.people)]
    lines += [f"AB  - {work.abstract}", f"DA  - {work.year}/{work.month:02d}/{work.day:02d}"]
    lines += [f"DO  - {work.doi}", f"IS  - {work.issue}"]
    lines += ["KW  - " + "\n".join(work.words), f"PY  - {work.year}", f"SN  - {work.issn}"]
    lines += [f"SP  - {work.first}-{work.last}", f"ST  - {work.title}", f"T2  - {work.journal}"]
    lines += [f"TI  - {work.title}", f"VL  - {work.volume}", "ID  - 12", "ER  - ", ""]
    return "\r\n".join(lines)


def write_old_ris(work: Work) -> str:
    lines = ["TY  - JOUR", f"T1  - {work.title}"]
    lines += [f"A1  - {family}, {given}" for family, given in work.people]
    lines += [f"Y1  - {work.year}/{work.month:02d}/{work.day:02d}/", f"JF  - {work.journal}"]
    lines += [f"VL  - {work.volume}", f"IS  - {work.issue}", f"SP  - {work.first}"]
    lines += [f"EP  - {work.last}", f"N2  - {work.abstract}", f"SN  - {work.issn}"]
    lines += [*(f"KW  - {word}" for word in work.words), f"M3  - {work.doi}", "ER  -"]
    return "\n".join(lines)


def write_nbib(work: Work) -> str:
    lines = ["", "PMID- 123456", f"IS  - {work.issn} (Print)", f"VI  - {work.volume}"]
    lines += [f"IP  - {work.issue}", f"DP  - {work.year} {_MONTHS[work.month - 1].title()}"]
    half = work.title.rfind(" ")
    lines += [f"TI  - {work.title[:half]}", f"      {work.title[half + 1 :]}"]
    lines += [f"PG  - {work.first}-{work.last}", f"LID - {work.doi} [doi]"]
    lines += [f"AB  - {work.abstract}"]
    for family, given in work.people:
        lines += [f"FAU - {family}, {given}", f"AU  - {family} {given[0]}"]
    lines += ["PT  - Journal Article", f"JT  - {work.journal}"]
    return "\n".join([*lines, *(f"OT  - {word}" for word in work.words), ""])


def write_refer(work: Work) -> str:
    lines = ["%0 Journal Article", *(f"%A {family}, {given}" for family, given in work.people)]
    lines += [f"%D {work.year}", f"%T {work.title}", f"%J {work.journal}", f"%V {work.volume}"]
    lines += [f"%N {work.issue}", f"%P {work.first}-{work.last}", f"%@ {work.issn}"]
    lines += [f"%R {work.doi}", f"%X {work.abstract}", "%K " + "\n".join(work.words)]
    return "\n".join([*lines, f"%8 {_MONTHS[work.month - 1].title()} {work.day}", ""])


def write_endnote_xml(work: Work) -> str:
    def style(text: str) -> str:
        return f'<style face="normal" font="default" size="100%">{escape(text)}</style>'

    names = "".join(
        f"<author>{style(f'{family}, {given}')}</author>" for family, given in work.people
    )
    words = "".join(f"<keyword>{style(word)}</keyword>" for word in work.words)
    return (
        '<?xml version="1.0" encoding="UTF-8" ?><xml><records><record><ref-type '
        f'name="Journal Article">17</ref-type><contributors><authors>{names}</authors>'
        f"</contributors><titles><title>{style(work.title)}</title><secondary-title>"
        f"{style(work.journal)}</secondary-title></titles><periodical><full-title>"
        f"{style(work.journal)}</full-title></periodical><pages>"
        f"{style(f'{work.first}-{work.last}')}</pages><volume>{style(work.volume)}</volume>"
        f"<number>{style(work.issue)}</number><keywords>{words}</keywords><dates><year>"
        f"{style(str(work.year))}</year></dates><isbn>{style(work.issn)}</isbn>"
        f"<electronic-resource-num>{style(work.doi)}</electronic-resource-num><abstract>"
        f"{style(work.abstract)}</abstract></record></records></xml>"
    )


def write_mods(work: Work) -> str:
    names = "".join(
        f'<name type="personal"><namePart type="given">{given}</namePart><namePart type="family">'
        f'{escape(family)}</namePart><role><roleTerm authority="marcrelator" type="code">aut'
        "</roleTerm></role></name>"
        for family, given in work.people
    )
    words = "".join(f"<subject><topic>{word}</topic></subject>" for word in work.words)
    return (
        '<modsCollection xmlns="http://www.loc.gov/mods/v3"><mods><titleInfo><title>'
        f"{escape(work.title)}</title></titleInfo>{names}<genre>journal article</genre>"
        f'<abstract>{escape(work.abstract)}</abstract>{words}<identifier type="doi">{work.doi}'
        '</identifier><relatedItem type="host"><titleInfo><title>'
        f"{escape(work.journal)}</title></titleInfo><originInfo><issuance>continuing</issuance>"
        f'</originInfo><identifier type="issn">{work.issn}</identifier><part><detail '
        f'type="volume"><number>{work.volume}</number></detail><detail type="issue"><number>'
        f'{work.issue}</number></detail><extent unit="pages"><start>{work.first}</start><end>'
        f"{work.last}</end></extent><date>{work.year}-{work.month:02d}</date></part>"
        "</relatedItem></mods></modsCollection>"
    )


WRITERS = [
    write_mendeley, write_biblatex, write_endnote_ris, write_old_ris, write_nbib, write_refer,
    write_endnote_xml, write_mods,
]  # fmt: skip


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_work_comes_back_from_every_dialect(write: object, seed: int) -> None:
    work = draw(seed)
    assert callable(write)
    answer = read_bibliography(write(work))
    assert not answer.failures
    [imported] = answer.items
    found = {name: imported.item.get(name) for name in work.expected}
    assert found == work.expected
    assert imported.item["issued"]["date-parts"][0][0] == work.year


def test_endnote_and_refer_mean_different_things_by_one_tag() -> None:
    endnote = read_bibliography("%0 Book Section\n%T A\n%Q Übersetzt\n%Y Roe, Max\n%( 1850\n")
    item = endnote.items[0].item
    assert item["custom"]["fields"]["translated-title"] == "Übersetzt"
    assert item["custom"]["fields"]["original-publication"] == "1850"
    assert item["collection-editor"] == [{"family": "Roe", "given": "Max"}]
    refer = read_bibliography("%T A\n%Q The Group\n%D 1999\n").items[0].item
    assert refer["author"] == [{"literal": "The Group"}]


def test_mods_says_parts_ranges_and_roles() -> None:
    item = (
        read_bibliography(
            "<mods><titleInfo><nonSort>L'</nonSort><title>oeuvre</title><partNumber>2</partNumber>"
            "<partName>Fin</partName></titleInfo><name><namePart>Roe, Max</namePart><role>"
            "<roleTerm>http://id.loc.gov/vocabulary/relators/cur</roleTerm></role></name>"
            '<originInfo><dateIssued point="start">1990</dateIssued><dateIssued '
            'point="end">1995</dateIssued></originInfo>'
            "<subject><name><namePart>Darwin, Charles</namePart></name></subject></mods>"
        )
        .items[0]
        .item
    )
    assert item["title"] == "L'oeuvre. 2, Fin"
    assert item["curator"] == [{"family": "Roe", "given": "Max"}]
    assert item["issued"] == {"date-parts": [[1990], [1995]]}
    assert item["keyword"] == "Darwin, Charles"

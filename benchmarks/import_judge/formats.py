"""Records of other formats with a token in every field that the format defines: where does each
end up?
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

RIS_TYPES = [
    "JOUR", "MGZN", "NEWS", "BOOK", "EBOOK", "EDBOOK", "CHAP", "ECHAP", "CONF", "CPAPER", "THES",
    "RPRT", "GOVDOC", "STAND", "PAT", "ELEC", "WEB", "BLOG", "COMP", "DATA", "DBASE", "AGGR", "GEN",
    "UNPB", "MANSCPT", "PAMP", "MAP", "ART", "FIGURE", "SLIDE", "HEAR", "BILL", "STAT", "CASE",
    "ENCYC", "DICT", "MPCT", "VIDEO", "SOUND", "MUSIC", "PCOMM", "SER", "EJOUR", "ABST", "INPR",
    "JFULL", "ADVS", "LEGAL", "ANCIENT", "CLSWK", "CHART", "EQUA", "GRANT", "MULTI", "UNBILL",
    "ICOMM", "INTV", "PODCAST", "CTLG",
]  # fmt: skip
RIS_TAGS = [
    "T1", "TI", "T2", "T3", "BT", "CT", "JF", "JO", "JA", "J1", "J2", "ST", "TT", "VL", "IS", "CP",
    "SP", "EP", "PB", "CY", "PP", "ET", "SN", "M1", "M2", "M3", "N1", "N2", "AB", "KW", "UR", "L1",
    "L2", "DO", "LA", "DB", "DP", "CN", "AN", "AD", "AV", "C1", "C2", "C3", "C4", "C5", "C6", "C7",
    "C8", "NV", "SE", "RN", "RP", "RI", "OP", "CA", "LB", "ID", "U1", "U2", "U3", "SV", "TA",
]  # fmt: skip
RIS_PEOPLE = ["AU", "A1", "A2", "A3", "A4", "ED"]
ENDNOTE_TYPES = [
    ("Journal Article", 17), ("Book", 6), ("Book Section", 5), ("Edited Book", 28),
    ("Conference Proceedings", 10), ("Conference Paper", 47), ("Thesis", 32), ("Report", 27),
    ("Web Page", 12), ("Newspaper Article", 23), ("Magazine Article", 19), ("Patent", 25),
    ("Generic", 13), ("Electronic Article", 43), ("Computer Program", 9), ("Manuscript", 36),
    ("Map", 20), ("Film or Broadcast", 21), ("Encyclopedia", 53), ("Dictionary", 52),
    ("Dataset", 59), ("Government Document", 46), ("Standard", 58), ("Artwork", 2), ("Bill", 4),
    ("Case", 7), ("Statute", 31), ("Hearing", 18), ("Blog", 56), ("Unpublished Work", 34),
    ("Personal Communication", 26), ("Audiovisual Material", 3), ("Electronic Book", 44),
]  # fmt: skip
ENDNOTE_TITLES = ["title", "secondary-title", "tertiary-title", "alt-title", "short-title",
                  "translated-title"]  # fmt: skip
ENDNOTE_PEOPLE = ["authors", "secondary-authors", "tertiary-authors", "subsidiary-authors",
                  "translated-authors"]  # fmt: skip
ENDNOTE_FIELDS = [
    "pages", "volume", "number", "issue", "num-vols", "edition", "section", "reprint-edition",
    "pub-location", "publisher", "orig-pub", "isbn", "accession-num", "call-num", "label",
    "abstract", "notes", "research-notes", "work-type", "language", "electronic-resource-num",
    "remote-database-name", "remote-database-provider", "custom1", "custom2", "custom3", "custom4",
    "custom5", "custom6", "custom7", "caption", "auth-address", "access-date",
]  # fmt: skip
REFER_TYPES = [name for name, _ in ENDNOTE_TYPES]
REFER_TAGS = list("TBJSVNIPRKXZCGLMUOQW789&^!#$*(") + [str(number) for number in range(1, 7)]
REFER_PEOPLE = ["A", "E", "Y", "?"]
ISI_TYPES = ["J", "B", "S", "P"]
ISI_TAGS = [
    "TI", "SO", "JI", "J9", "SE", "BS", "LA", "DT", "CT", "CL", "CY", "SP", "HO", "DE", "ID", "AB",
    "C1", "RP", "EM", "PU", "PI", "PA", "SN", "EI", "BN", "VL", "IS", "BP", "EP", "AR", "DI", "PG",
    "PM", "UT", "GA", "PN", "SU", "SI", "MA", "FU",
]  # fmt: skip
ISI_PEOPLE = ["AU", "BA", "BE", "ED", "GP", "CA"]


@dataclass(frozen=True)
class Record:
    """One record, its type, and the token that each of its fields holds."""

    text: str
    kind: str
    tokens: dict[str, str]


def _token(name: str) -> str:
    return f"Token{name.replace('-', '')}"


def draw_ris(dice: random.Random, number: int) -> Record:
    kind = RIS_TYPES[number % len(RIS_TYPES)]
    tags = dice.sample(RIS_TAGS, 9)
    people = dice.sample(RIS_PEOPLE, 2)
    tokens = {tag: _token(tag) for tag in (*tags, *people)}
    lines = [f"TY  - {kind}"]
    lines += [f"{tag}  - {tokens[tag]}{', Jane' if tag in people else ''}" for tag in tokens]
    return Record("\n".join([*lines, "ER  - ", ""]), kind, tokens)


def draw_endnote(dice: random.Random, number: int) -> Record:
    kind, code = ENDNOTE_TYPES[number % len(ENDNOTE_TYPES)]
    titles = ["title", *dice.sample(ENDNOTE_TITLES[1:], 2)]
    people, fields = dice.sample(ENDNOTE_PEOPLE, 3), dice.sample(ENDNOTE_FIELDS, 8)
    tokens = {name: _token(name) for name in (*titles, *people, *fields)}

    def node(name: str, text: str) -> str:
        return f"<{name}>{text}</{name}>"

    def styled(name: str, end: str = "") -> str:
        return (
            f'<style face="normal" font="default" size="100%">{escape(tokens[name])}{end}</style>'
        )

    text = "".join([
        f'<record><ref-type name="{kind}">{code}</ref-type>',
        node("contributors", "".join(
            node(name, node("author", styled(name, ", Jane"))) for name in people)),
        node("titles", "".join(node(name, styled(name)) for name in titles)),
        *(node(name, styled(name)) for name in fields),
        "</record>",
    ])  # fmt: skip
    return Record(f"<xml><records>{text}</records></xml>", kind, tokens)


def draw_refer(dice: random.Random, number: int) -> Record:
    kind = REFER_TYPES[number % len(REFER_TYPES)]
    tags, people = dice.sample(REFER_TAGS, 9), dice.sample(REFER_PEOPLE, 2)
    tokens = {tag: f"Token{ord(tag)}" for tag in (*tags, *people)}
    lines = [f"%0 {kind}"]
    lines += [f"%{tag} {tokens[tag]}{', Jane' if tag in people else ''}" for tag in tokens]
    return Record("\n".join([*lines, "", ""]), kind, tokens)


def draw_isi(dice: random.Random, number: int) -> Record:
    kind = ISI_TYPES[number % len(ISI_TYPES)]
    tags, people = dice.sample(ISI_TAGS, 9), dice.sample(ISI_PEOPLE, 2)
    tokens = {tag: _token(tag) for tag in (*people, *tags)}
    lines = ["FN ISI Export Format", "VR 1.0", f"PT {kind}"]
    lines += [f"{tag} {tokens[tag]}{', J' if tag in people else ''}" for tag in tokens]
    return Record("\n".join([*lines, "ER", "", "EF", ""]), kind, tokens)


FORMATS: dict[str, Callable[[random.Random, int], Record]] = {
    "ris": draw_ris,
    "endnote-xml": draw_endnote,
    "refer": draw_refer,
    "web-of-science": draw_isi,
}

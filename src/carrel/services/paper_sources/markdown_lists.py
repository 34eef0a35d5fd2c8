"""References, figures and tables that stand in the text of a Markdown paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from carrel.libraries.text.budget import current_budget
from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.figures import FigureKind, PaperFigure
from carrel.libraries.works.reference_lists import MAX_PARSED_ENTRIES
from carrel.libraries.works.reference_parsing import parse_reference
from carrel.libraries.works.reference_sections import is_list_heading
from carrel.libraries.works.reference_splitting import MAX_ENTRIES, looks_like_reference

MAX_FIGURES = 1_000
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.{1,300})$")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
_ITEM = re.compile(r"^ {0,3}(?:(\d{1,4})[.)]|\[(\d{1,4})\]:?|\[\^([^\]\s]{1,40})\]:|[-*+•])[ \t]+")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,1000})\]\(<?([^()<>\s]{1,1000})>?[^()\n]{0,200}\)")
_EMPHASIS = re.compile(
    r"(?<![\w*])\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?!\w)|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)"
)
_ANCHOR = re.compile(r"<[^<>\n]{1,200}>")
_PAGE = re.compile(r"^<!-- page (\d{1,5}) -->$")
_IMAGE_LINE = re.compile(
    r"^(?:>\s{0,3})?!\[([^\[\]\n]{0,5000})\]\(<?([^()<>\s]{1,1000})>?[^()\n]{0,600}\)"
)
_CAPTION = re.compile(
    r"^(?:>\s{0,3})?[*_]{0,3}"
    r"((?:(?:Supplementary|Extended Data|Appendix)\s)?"
    r"(?:Figure|Fig\.?|Table|Tab\.|Abbildung|Abb\.|Tabelle|Tableau|Figura|Tabla|Scheme|Box)"
    r"\s{1,3}[A-Z]{0,2}\.?\d{1,3}[A-Za-z]?(?:[.\-–]\d{1,3})?(?:[—–-]\s?[a-z ]{3,30}\d{1,3})?)"
    r"\s{0,2}(?:[.:|][*_]{0,3}|[*_]{1,3}[.:|]?)\s{0,3}(.*)$"
)
_TABLE_ROW = re.compile(r"^\s{0,3}\|")
_TABLE_RULE = re.compile(r"^\s{0,3}\|?\s{0,20}:?-{1,200}:?\s{0,20}(?:\||$)")
_STORED_IMAGE = re.compile(r"images/[0-9a-f]{64}\.[a-z0-9]{1,5}")
_LONGEST_CAPTION = 5_000
# Lines between a picture or table and its caption.
_NEAR_LINES = 3


def read_text_references(body: str) -> tuple[CitedWork, ...]:
    """The entries under the last heading that names a reference list: items or paragraphs."""
    lines = body.split("\n")
    start, level = None, 0
    for number, line in _outside_fences(lines):
        heading = _HEADING.match(line)
        if heading and is_list_heading(heading.group(2).rstrip("# ")):
            start, level = number + 1, len(heading.group(1))
    if start is None:
        return ()
    entries = _cut_entries(lines, start, level)[:MAX_ENTRIES]
    good = sum(looks_like_reference(text) for _, text in entries)
    if good * 3 < len(entries):
        return ()
    works = []
    budget = current_budget()
    for number, (label, text) in enumerate(entries):
        budget.step()
        works.append(parse_reference(text, label, has_fields=number < MAX_PARSED_ENTRIES))
    return tuple(works)


def _cut_entries(lines: Sequence[str], start: int, level: int) -> list[tuple[str, str]]:
    """Labels and texts; a new entry begins with an item's mark or after an empty line."""
    entries: list[tuple[str, list[str]]] = []
    is_open = has_items = False
    for line in lines[start:]:
        heading = _HEADING.match(line)
        if heading and len(heading.group(1)) <= level:
            break
        text = line.strip()
        item = _ITEM.match(line)
        if item:
            has_items = True
            label = item.group(1) or item.group(2) or item.group(3) or ""
            entries.append((label, [line[item.end() :].strip()]))
            is_open = True
        elif not text or heading or text.startswith("<!--"):
            is_open = is_open and not text and has_items and bool(entries)
        elif is_open:
            entries[-1][1].append(text)
        elif not has_items:
            entries.append(("", [text]))
            is_open = True
    return [(label, text) for label, pieces in entries if (text := _plain(" ".join(pieces)))]


def _plain(text: str) -> str:
    """The text without emphasis and tags; the address of a link stands behind its words."""

    def show(link: re.Match[str]) -> str:
        words, address = link.group(1), link.group(2)
        return words if address in words or not address.startswith("http") else f"{words} {address}"

    return " ".join(_EMPHASIS.sub("", _ANCHOR.sub(" ", _LINK.sub(show, text))).split())


def _outside_fences(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    is_code = False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code:
            yield number, line


def read_text_figures(body: str) -> tuple[PaperFigure, ...]:
    """Pictures and pipe tables with their captions, and captions that have neither, in order."""
    lines = dict(_outside_fences(body.split("\n")))
    captions = {
        number: (match.group(1).strip(), match.group(2).strip())
        for number, line in lines.items()
        if len(line) <= _LONGEST_CAPTION * 2 and (match := _CAPTION.match(line))
    }
    pages = _page_numbers(lines)
    taken: set[int] = set()
    found: list[tuple[int, PaperFigure]] = []
    for first, last, figure in [*_tables(lines), *_images(lines)]:
        near = _near_caption(captions, taken, (first, last), figure)
        if near is None:
            found.append((first, figure))
            continue
        taken.add(near)
        label, caption = captions[near]
        shown = _plain(caption)[:_LONGEST_CAPTION] or figure.caption
        found.append((first, replace(figure, label=label, caption=shown)))
    for number in captions.keys() - taken:
        label, caption = captions[number]
        shown = _plain(caption)[:_LONGEST_CAPTION]
        if shown:
            found.append((number, PaperFigure(_kind(label), label, shown)))
    found.sort(key=lambda each: each[0])
    return tuple(_number_figures([replace(one, page=pages.get(at)) for at, one in found]))


def _page_numbers(lines: dict[int, str]) -> dict[int, int | None]:
    """The page of each line, by the marks that texts of PDFs carry."""
    page: int | None = None
    pages: dict[int, int | None] = {}
    for number, line in lines.items():
        if mark := _PAGE.match(line.strip()):
            page = int(mark.group(1))
        pages[number] = page
    return pages


def _images(lines: dict[int, str]) -> Iterator[tuple[int, int, PaperFigure]]:
    for number, line in lines.items():
        image = _IMAGE_LINE.match(line)
        if image is None:
            continue
        own = _CAPTION.match(image.group(1))
        label, caption = (own.group(1), own.group(2)) if own else ("", image.group(1))
        stored = image.group(2) if _STORED_IMAGE.fullmatch(image.group(2)) else None
        kind = _kind(label)
        yield number, number, PaperFigure(kind, label.strip(), _plain(caption), image=stored)


def _tables(lines: dict[int, str]) -> Iterator[tuple[int, int, PaperFigure]]:
    block: list[int] = []
    for number in [*lines, -1]:
        line = lines.get(number, "")
        if _TABLE_ROW.match(line) and (not block or number == block[-1] + 1):
            block.append(number)
            continue
        if len(block) > 1 and _TABLE_RULE.match(lines[block[1]]):
            text = "\n".join(lines[each].strip() for each in block)
            yield block[0], block[-1], PaperFigure("table", "", markdown=text)
        block = [number] if _TABLE_ROW.match(line) else []


def _near_caption(
    captions: dict[int, tuple[str, str]],
    taken: set[int],
    place: tuple[int, int],
    figure: PaperFigure,
) -> int | None:
    """The caption just above or below; tables have theirs above first, figures below."""
    above = [place[0] - step for step in range(1, _NEAR_LINES + 1)]
    below = [place[1] + step for step in range(1, _NEAR_LINES + 1)]
    for number in (*above, *below) if figure.kind == "table" else (*below, *above):
        if number not in captions or number in taken:
            continue
        label = captions[number][0]
        if _kind(label) == figure.kind and figure.label in {"", label}:
            return number
    return None


def _kind(label: str) -> FigureKind:
    return "table" if "tab" in label.lower() else "figure"


def _number_figures(figures: list[PaperFigure]) -> Iterator[PaperFigure]:
    """Those without a label are counted by kind; of two with one label the first is kept."""
    counts = {"figure": 0, "table": 0}
    seen: set[str] = set()
    for figure in figures[:MAX_FIGURES]:
        counts[figure.kind] += 1
        word = "Table" if figure.kind == "table" else "Figure"
        label = figure.label.rstrip(" .:") or f"{word} {counts[figure.kind]}"
        if label not in seen:
            seen.add(label)
            yield replace(figure, label=label)

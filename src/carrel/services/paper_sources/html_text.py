"""The text of a LaTeXML page, as arXiv serves papers in HTML, as Markdown with LaTeX maths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from carrel.libraries.text.budget import current_budget
from carrel.libraries.text.html import has_class, parse_html
from carrel.services.paper_sources.texts import join_article

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
# The level of a heading by the class of the section that it opens; the title of the paper is 1.
_LEVELS = {
    "ltx_part": 2,
    "ltx_chapter": 2,
    "ltx_section": 2,
    "ltx_appendix": 2,
    "ltx_subsection": 3,
    "ltx_subsubsection": 4,
    "ltx_paragraph": 5,
    "ltx_subparagraph": 6,
}
_LEFT_OUT = frozenset({"nav", "header", "footer", "button", "svg", "form", "aside", "video"})
_LEFT_OUT_CLASSES = (
    "ltx_authors", "ltx_dates", "ltx_TOC", "ltx_page_navbar", "ltx_page_footer", "ltx_ERROR",
    "ltx_rdf", "ltx_bibliography", "ltx_abstract", "ltx_title_document", "ltx_note_mark",
    "ltx_tag_note", "ltx_pagination", "ltx_keywords", "ltx_classification",
)  # fmt: skip
_EQUATIONS = ("ltx_equation", "ltx_equationgroup", "ltx_eqn_table")
_BLOCKS = frozenset(
    {
        *("div", "p", "section", "article", "ul", "ol", "dl", "table", "figure", "blockquote"),
        *("pre", *_HEADINGS),
    }
)
_TEX_BREAK = re.compile(r"%\s*\n\s*")
_STYLES = re.compile(r"^(?:\\(?:displaystyle|textstyle)\s*)+")
_SPACE = re.compile(r"\s+")
_LICENCE = re.compile(r"^\s*licen[cs]e:\s*", re.IGNORECASE)
_ENTRY_NUMBER = re.compile(r"\[?(\d{1,4})\]?\.?")
# Pages that say why there is no text are shorter than any paper.
_FEWEST_LETTERS = 800


@dataclass(frozen=True, slots=True)
class HtmlArticle:
    """A paper read from a page; `licence` is what the page says of it, in its words."""

    title: str
    abstract: str
    body: str
    licence: str | None = None

    @property
    def markdown(self) -> str:
        return join_article(self.title, self.abstract, self.body)


def read_html_article(content: bytes | str) -> HtmlArticle | None:
    """The article of a page; None where there is none, or no more than a notice."""
    root = parse_html(content)
    article = next((node for node in root.iter() if has_class(node, "ltx_document")), None)
    if article is None:
        return None
    title = next((node for node in article.iter() if has_class(node, "ltx_title_document")), None)
    abstract = next((node for node in article.iter() if has_class(node, "ltx_abstract")), None)
    body = [*_blocks(article, 2), *_references(article)]
    if sum(map(str.isalpha, "".join(body))) < _FEWEST_LETTERS:
        return None
    current_budget().spend_output(sum(map(len, body)))
    return HtmlArticle(
        title=_line(_inside(title)) if title is not None else _page_title(root),
        abstract="" if abstract is None else "\n\n".join(_abstract(abstract)),
        body="\n\n".join(body),
        licence=_licence(root),
    )


def _page_title(root: Element) -> str:
    """What the browser shows, where the paper itself has no title."""
    node = next(root.iter("title"), None)
    return "" if node is None else _line("".join(node.itertext()))


def _licence(root: Element) -> str | None:
    """As the head of an arXiv page names it: `License: CC BY 4.0`."""
    node = next((each for each in root.iter() if each.get("id") == "license-tr"), None)
    text = "" if node is None else _LICENCE.sub("", _line("".join(node.itertext())))
    return text[:200] or None


def _abstract(node: Element) -> Iterator[str]:
    for each in node:
        if not has_class(each, "ltx_title_abstract"):
            yield from _block(each, 3)


def _blocks(node: Element, level: int) -> Iterator[str]:
    """The blocks inside an element; text that stands bare between them is a paragraph."""
    bare = [node.text or ""]
    for each in node:
        if each.tag in _BLOCKS or each.tag in _LEFT_OUT:
            if shown := _line("".join(bare)):
                yield shown
            yield from _block(each, level)
            bare = [each.tail or ""]
        else:
            bare.append(_inline(each) + (each.tail or ""))
    if shown := _line("".join(bare)):
        yield shown


def _block(node: Element, level: int) -> Iterator[str]:
    current_budget().step()
    if node.tag in _LEFT_OUT or has_class(node, *_LEFT_OUT_CLASSES):
        return
    if node.tag in _HEADINGS:
        if title := _line(_inside(node)):
            yield f"{'#' * min(level, 6)} {title}"
    elif has_class(node, *_EQUATIONS):
        yield from _equations(node)
    elif node.tag == "figure" or has_class(node, "ltx_figure", "ltx_table", "ltx_float"):
        yield from _figure(node)
    elif has_class(node, "ltx_listing") or node.tag == "pre":
        yield f"```\n{_code(node)}\n```"
    elif node.tag == "table":
        yield from _table(node)
    elif node.tag in {"ul", "ol"}:
        if lines := list(_list(node)):
            yield "\n".join(lines)
    elif node.tag == "dl":
        yield from (text for each in node if (text := _line(_inside(each))))
    elif node.tag == "blockquote":
        yield from (f"> {text}" for text in _blocks(node, level))
    else:
        yield from _blocks(node, _level_inside(node, level))


def _level_inside(node: Element, level: int) -> int:
    """The level of headings inside; theorems and proofs have titles that are lower."""
    names = (node.get("class") or "").split()
    if "ltx_theorem" in names or "ltx_proof" in names:
        return 6
    return next((_LEVELS[name] for name in names if name in _LEVELS), level)


def _inside(node: Element) -> str:
    return (node.text or "") + "".join(_inline(each) + (each.tail or "") for each in node)


def _inline(node: Element) -> str:
    if node.tag in _LEFT_OUT or has_class(node, *_LEFT_OUT_CLASSES):
        return ""
    if has_class(node, "ltx_note"):
        return _note(node)
    match node.tag:
        case "math":
            return _formula(node)
        case "em" | "i" | "b" | "strong":
            return _emphasised(node, "*" if node.tag in {"em", "i"} else "**")
        case "a":
            address, text = node.get("href") or "", _line(_inside(node))
            is_link = address.startswith("http") and text and text != address
            # Links inside the page lead nowhere in a text.
            return f"[{text}]({address})" if is_link and "#" not in address else text or ""
        case "br":
            return " "
        case "img":
            return ""
        case "code" | "tt":
            text = _line("".join(node.itertext()))
            return f"`{text}`" if text and "`" not in text else text
        case "span" if has_class(node, "ltx_font_italic", "ltx_font_bold"):
            return _emphasised(node, "*" if has_class(node, "ltx_font_italic") else "**")
        case _:
            return _inside(node)


def _emphasised(node: Element, mark: str) -> str:
    text = _inside(node)
    inner = text.strip()
    if not inner or "*" in inner or "$" in inner:
        return text
    head, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{head}{mark}{inner}{mark}{tail}"


def _note(node: Element) -> str:
    """A footnote where it is called, in brackets."""
    content = next((each for each in node.iter() if has_class(each, "ltx_note_content")), None)
    text = "" if content is None else _line(_inside(content))
    return f" (note: {text})" if text else ""


def _tex(math: Element) -> str:
    written = math.get("alttext")
    if written is None:
        annotation = next(
            (
                each
                for each in math.iter("annotation")
                if "tex" in (each.get("encoding") or "").lower()
            ),
            None,
        )
        written = "".join((annotation if annotation is not None else math).itertext())
    return _STYLES.sub("", _SPACE.sub(" ", _TEX_BREAK.sub("", written)).strip()).strip()


def _formula(math: Element) -> str:
    tex = _tex(math)
    if not tex:
        return ""
    return f"$${tex}$$" if math.get("display") == "block" else f"${tex}$"


def _equations(node: Element) -> Iterator[str]:
    """Each numbered row as one display; a table without rows as a whole."""
    rows = [
        each
        for each in node.iter()
        if has_class(each, "ltx_eqn_row") or (each.tag == "tr" and has_class(each, "ltx_equation"))
    ]
    for row in rows or [node]:
        pieces = [_tex(math) for math in row.iter("math")]
        tex = " ".join(piece for piece in pieces if piece)
        tag = next((each for each in row.iter() if has_class(each, "ltx_tag_equation")), None)
        number = "" if tag is None else _line("".join(tag.itertext())).strip("()")
        if tex:
            numbered = f" \\tag{{{number}}}" if number else ""
            yield f"$${tex}{numbered}$$"


def _figure(node: Element) -> Iterator[str]:
    caption = next((each for each in node if each.tag == "figcaption"), None)
    inner = list(_nearest_figures(node))
    if caption is not None:
        tag = next((each for each in caption.iter() if has_class(each, "ltx_tag")), None)
        label = "" if tag is None else _line("".join(tag.itertext())).rstrip(" .:")
        text = _line("".join(_caption_pieces(caption, tag)))
        if shown := " ".join(piece for piece in (f"**{label}.**" if label else "", text) if piece):
            yield shown
    for each in inner:
        yield from _figure(each)
    if not inner:
        yield from _tables_of(node)
    for listing in (each for each in node.iter() if has_class(each, "ltx_listing")):
        yield f"```\n{_code(listing)}\n```"


def _nearest_figures(node: Element) -> Iterator[Element]:
    for each in node:
        if each.tag == "figure":
            yield each
        else:
            yield from _nearest_figures(each)


def _caption_pieces(caption: Element, tag: Element | None) -> Iterator[str]:
    yield caption.text or ""
    for each in caption:
        if each is not tag:
            yield _inline(each)
        yield each.tail or ""


def _tables_of(node: Element) -> Iterator[str]:
    for table in node.iter("table"):
        if has_class(table, *_EQUATIONS):
            continue
        yield from _table(table)


def _table(table: Element) -> Iterator[str]:
    rows = [
        [_line(_inside(cell)).replace("|", "\\|") for cell in row if cell.tag in {"td", "th"}]
        for row in table.iter("tr")
    ]
    rows = [row for row in rows if any(row)]
    if not rows:
        return
    width = max(map(len, rows))
    current_budget().spend_output(3 * width * len(rows))
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    yield "\n".join([lines[0], f"|{'---|' * width}", *lines[1:]])


def _list(node: Element) -> Iterator[str]:
    for number, item in enumerate((each for each in node if each.tag == "li"), start=1):
        inner = [text for each in _without_tag(item) for text in each]
        if text := _line(" ".join(inner)):
            yield f"{f'{number}.' if node.tag == 'ol' else '-'} {text}"


def _without_tag(item: Element) -> Iterator[Iterator[str]]:
    """The blocks of an item without the bullet or number that LaTeXML writes out."""
    yield iter([item.text or ""])
    for each in item:
        if not has_class(each, "ltx_tag"):
            is_block = each.tag in _BLOCKS
            yield _block(each, 6) if is_block else iter([_inline(each)])
        yield iter([each.tail or ""])


def _code(node: Element) -> str:
    lines = [each for each in node.iter() if has_class(each, "ltx_listingline")]
    if not lines:
        return "".join(node.itertext()).strip("\n")
    return "\n".join("".join(line.itertext()).rstrip("\n") for line in lines)


def _references(article: Element) -> Iterator[str]:
    entries = [each for each in article.iter() if has_class(each, "ltx_bibitem")]
    lines = []
    for place, entry in enumerate(entries, start=1):
        tag = next((each for each in entry.iter() if has_class(each, "ltx_tag_bibitem")), None)
        number = _ENTRY_NUMBER.fullmatch("" if tag is None else _line("".join(tag.itertext())))
        pieces = [_inside(each) for each in entry.iter() if has_class(each, "ltx_bibblock")]
        text = _line(" ".join(pieces)) or _line("".join(_caption_pieces(entry, tag)))
        if text:
            lines.append(f"{number.group(1) if number else place}. {text}")
    if lines:
        yield "## References"
        yield "\n".join(lines)


def _line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()

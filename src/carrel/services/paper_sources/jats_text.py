"""The text of a JATS article as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from carrel.libraries.text.budget import current_budget
from carrel.libraries.text.xml import Element

_BLOCKS = frozenset(
    {
        "p",
        "sec",
        "list",
        "fig",
        "fig-group",
        "table-wrap",
        "boxed-text",
        "disp-formula",
        "disp-quote",
        "def-list",
        "title",
    }
)
_BREAK = re.compile(r"(?<![ \t])[ \t]*\n[ \t\n]*")
_DEEPEST_HEADING = 6


def children(node: Element | None, name: str) -> Iterator[Element]:
    return iter(()) if node is None else (each for each in node if each.tag == name)


def child(node: Element | None, name: str) -> Element | None:
    return next(children(node, name), None)


def plain(node: Element | None) -> str:
    """All text inside, footnote marks left out, in one line."""
    return "" if node is None else " ".join("".join(_plain_pieces(node)).split())


def _plain_pieces(node: Element) -> Iterator[str]:
    yield node.text or ""
    for each in node:
        if not (
            each.tag in {"xref", "fn"} and each.get("ref-type") in {None, "fn", "aff", "corresp"}
        ):
            yield from _plain_pieces(each)
        yield each.tail or ""


def inline(node: Element) -> str:
    """Running text with emphasis, links and formulas."""
    name = node.tag
    match name:
        case "italic" | "bold":
            mark = "*" if name == "italic" else "**"
            text = _inside(node)
            return f"{mark}{text.strip()}{mark}" if text.strip() and "*" not in text else text
        case "sup" if any(each.tag == "xref" and each.get("ref-type") == "bibr" for each in node):
            return f" [{_inside(node).strip()}]"
        case "inline-formula" | "disp-formula" | "math" | "tex-math":
            return _formula(node)
        case "ext-link" | "uri":
            address = next(
                (value for key, value in node.attrib.items() if key.endswith("href")), ""
            )
            text = _inside(node).strip()
            return (
                f"[{text}]({address})"
                if address.startswith("http") and text and text != address
                else text or address
            )
        case "fn" | "inline-graphic" | "graphic" | "object-id":
            return ""
        case "break":
            return " "
        case _:
            return _inside(node)


def _inside(node: Element) -> str:
    return (node.text or "") + "".join(inline(each) + (each.tail or "") for each in node)


def _one_line(text: str) -> str:
    return " ".join(_BREAK.sub(" ", text).split())


def _formula(node: Element) -> str:
    tex = next((each for each in node.iter() if each.tag == "tex-math"), None)
    if tex is not None:
        written = "".join(tex.itertext())
        found = re.search(r"\\begin\{document\}(.*?)\\end\{document\}", written, re.DOTALL)
        return f"${(found.group(1) if found else written).strip().strip('$').strip()}$"
    math = next((each for each in node.iter() if each.tag == "math"), None)
    if math is not None:
        return math.get("alttext") or "".join("".join(math.itertext()).split())
    return _one_line("".join(node.itertext()))


def abstract_markdown(meta: Element | None) -> str | None:
    """The main abstract; digests, teasers and pictures have a type and are not it."""
    for node in children(meta, "abstract"):
        if node.get("abstract-type") in {None, "abstract"}:
            pieces = [*_flat(node)]
            return "\n\n".join(pieces) or None
    return None


def _flat(node: Element) -> Iterator[str]:
    for each in node:
        match each.tag:
            case "p":
                if text := _one_line(inline(each)):
                    yield text
            case "sec":
                title = plain(child(each, "title"))
                pieces = list(_flat(each))
                if title and pieces:
                    pieces[0] = f"{title}: {pieces[0]}"
                yield from pieces
            case "list":
                yield from _list(each)


def body_markdown(article: Element) -> str:
    """The article's text below its abstract, then its references."""
    pieces = [*_blocks(child(article, "body"), 2)]
    back = child(article, "back")
    for group in children(back, "app-group"):
        pieces.extend(_blocks(group, 2))
    pieces.extend(_references(back))
    return "\n\n".join(pieces)


def _blocks(node: Element | None, level: int) -> Iterator[str]:
    if node is None:
        return
    for each in node:
        name = each.tag
        if name in {"sec", "app", "boxed-text"}:
            title = plain(child(each, "title")) or plain(child(child(each, "caption"), "title"))
            if title:
                yield f"{'#' * min(level, _DEEPEST_HEADING)} {title}"
            yield from _blocks(each, level + 1 if title else level)
        elif name == "p":
            yield from _paragraph(each, level)
        elif name in {"fig", "table-wrap", "fig-group", "supplementary-material", "media"}:
            yield from _figure(each, level)
        elif name in {"list", "def-list"}:
            yield from ["\n".join(_list(each))]
        elif name == "disp-formula":
            yield f"$${_formula(each).strip('$')}$$"
        elif name == "disp-quote":
            yield from (f"> {text}" for text in _blocks(each, level))
        elif name == "table":
            yield from _table(each)


def _paragraph(node: Element, level: int) -> Iterator[str]:
    """A paragraph; figures, lists and formulas inside it become separate blocks."""
    pieces = [node.text or ""]
    for each in node:
        if each.tag in _BLOCKS:
            if shown := _one_line("".join(pieces)):
                yield shown
            holder = Element("holder")
            holder.append(each)
            yield from _blocks(holder, level)
            pieces = [each.tail or ""]
        else:
            pieces.append(inline(each) + (each.tail or ""))
    if shown := _one_line("".join(pieces)):
        yield shown


def _figure(node: Element, level: int) -> Iterator[str]:
    if node.tag == "fig-group":
        for each in node:
            yield from _figure(each, level)
        return
    label = plain(child(node, "label")).rstrip(".")
    words = [f"**{label}.**" if label else "", caption_markdown(node)]
    if shown := " ".join(word for word in words if word):
        yield shown
    if table := table_markdown(node):
        yield table


def caption_markdown(node: Element) -> str:
    """The caption of a figure or table in one line: its title, then its text."""
    caption = child(node, "caption")
    words = [
        plain(child(caption, "title")),
        *(_one_line(inline(each)) for each in children(caption, "p")),
    ]
    return " ".join(word for word in words if word)


def table_markdown(node: Element) -> str | None:
    """The tables inside as Markdown; None where there is none."""
    tables = (text for table in node.iter() if table.tag == "table" for text in _table(table))
    return "\n\n".join(tables) or None


def _list(node: Element) -> Iterator[str]:
    is_numbered = node.get("list-type") in {"order", "arabic"}
    items = [each for each in node if each.tag in {"list-item", "def-item"}]
    for number, item in enumerate(items, start=1):
        text = _one_line(" ".join(inline(each) for each in item if each.tag != "label"))
        if text:
            yield f"{f'{number}.' if is_numbered else '-'} {text}"


def _table(table: Element) -> Iterator[str]:
    rows = [
        [_one_line(inline(cell)).replace("|", "\\|") for cell in row if cell.tag in {"td", "th"}]
        for row in table.iter("tr")
    ]
    rows = [row for row in rows if row]
    if not rows:
        return
    width = max(len(row) for row in rows)
    # One wide row makes every other as wide, and a table inside a table is shown with both.
    current_budget().spend_output(
        sum(len(cell) for row in rows for cell in row) + 3 * width * len(rows)
    )
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    yield "\n".join([lines[0], f"|{'---|' * width}", *lines[1:]])


def _references(back: Element | None) -> Iterator[str]:
    lines: list[str] = []
    for reference in (
        node for group in children(back, "ref-list") for node in group.iter() if node.tag == "ref"
    ):
        citation = next(
            (
                each
                for each in reference.iter()
                if each.tag in {"mixed-citation", "element-citation", "citation"}
            ),
            None,
        )
        if citation is not None and (text := _citation(citation)):
            lines.append(f"{len(lines) + 1}. {text}")
    if lines:
        yield "## References"
        yield "\n".join(lines)


def _citation(node: Element) -> str:
    if node.tag == "mixed-citation" and len("".join(node.itertext()).split()) > 3:
        return plain(node)
    people = [
        " ".join(plain(child(name, part)) for part in ("surname", "given-names")).strip()
        for name in node.iter()
        if name.tag == "name"
    ]
    shown = ", ".join(people[:3]) + (" et al." if len(people) > 3 else "")
    facts = [
        shown,
        *(
            plain(child(node, part))
            for part in ("year", "article-title", "chapter-title", "source", "volume")
        ),
    ]
    doi = next(
        (plain(each) for each in children(node, "pub-id") if each.get("pub-id-type") == "doi"), ""
    )
    return ". ".join(fact.rstrip(".") for fact in (*facts, f"doi:{doi}" if doi else "") if fact)

"""Markdown of strangers as safe HTML: no raw HTML, no remote images, TeX as MathML.

What comes out passes a cleaner with a list of allowed tags, because the TeX converter does not
escape everything that it is given.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from html import escape
from typing import Any

import nh3
from latex2mathml.converter import convert as convert_tex
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

_LONGEST_MATHS = 2_000
_DEEPEST_MATHS = 40
# A formula of more characters may be wider than its place, and is scrolled there by keys.
_WIDE_MATHS = 30
_PLAIN_TAGS = {
    "a", "blockquote", "br", "code", "dd", "del", "div", "dl", "dt", "em", "h2", "h3", "h4", "h5",
    "h6", "hr", "img", "li", "ol", "p", "pre", "s", "span", "strong", "sub", "sup", "table",
    "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_MATHS_TAGS = {
    "math", "mfenced", "menclose", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded",
    "mphantom", "mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub",
    "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover", "none", "semantics",
}  # fmt: skip
_MATHS_ATTRIBUTES = {
    "accent", "accentunder", "columnalign", "columnspacing", "depth", "display", "displaystyle",
    "fence", "form", "height", "linethickness", "lspace", "mathvariant", "maxsize", "minsize",
    "movablelimits", "rowspacing", "rspace", "scriptlevel", "separator", "stretchy", "symmetric",
    "width",
}  # fmt: skip
_ATTRIBUTES: dict[str, set[str]] = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title"},
    "td": {"align"},
    "th": {"align"},
    "ol": {"start"},
    "h2": {"id"}, "h3": {"id"}, "h4": {"id"}, "h5": {"id"}, "h6": {"id"},
    "span": {"class"}, "div": {"class", "tabindex"}, "code": {"class"},
    **{tag: set(_MATHS_ATTRIBUTES) for tag in _MATHS_TAGS},
}  # fmt: skip
_CLASSES = {"maths", "maths-block", "maths-source"}
_SCHEMES = {"http", "https", "mailto"}
# Pictures of papers alone: an image of any other address would open that page for the reader, and
# a live view would keep one of the browser's few connections.
_OWN_IMAGE = re.compile(
    r"/papers/(?:figure|page)/(?!.*(?:\.|%2e){2})[A-Za-z0-9/._~%:@?=&+,-]*", re.IGNORECASE
)
# Each open bracket is tried as a link to the end of its paragraph, which takes about 50 µs.
_MOST_BRACKETS = 10_000


def render_markdown(text: str, *, heading_level: int = 2) -> str:
    """Safe HTML; the highest heading becomes `heading_level`.

    A text with more brackets than any has for links is shown as it was written.
    """
    if text.count("[") > _MOST_BRACKETS:
        return f"<pre>{escape(text)}</pre>"
    return _clean(_renderer().render(text, {"heading_level": heading_level}))


def render_inline(text: str) -> str:
    """Safe HTML of one line: emphasis, links and formulas."""
    if text.count("[") > _MOST_BRACKETS:
        return escape(text)
    return _clean(_renderer().renderInline(text))


def _clean(html: str) -> str:
    return nh3.clean(
        html,
        tags=_PLAIN_TAGS | _MATHS_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_filter_attribute,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
        clean_content_tags={"script", "style", "svg", "iframe", "object", "template"},
    )


def _filter_attribute(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "class":
        kept = [each for each in value.split() if each in _CLASSES or each.startswith("language-")]
        return " ".join(kept) or None
    if attribute == "src":
        # An image of another host would tell that host who reads what.
        return value if _OWN_IMAGE.fullmatch(value) else None
    if attribute == "href" and value.startswith("//"):
        return None
    return value


@lru_cache(maxsize=1)
def _renderer() -> MarkdownIt:
    renderer = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 40})
    renderer.enable(["table", "strikethrough"])
    dollarmath_plugin(renderer, allow_space=False, allow_digits=False, double_inline=True)
    renderer.add_render_rule("math_inline", _render_inline_maths)
    renderer.add_render_rule("math_inline_double", _render_block_maths)
    renderer.add_render_rule("math_block", _render_block_maths)
    renderer.add_render_rule("heading_open", _open_heading)
    renderer.add_render_rule("heading_close", _close_heading)
    # Its rules are put together at the first use, which must not be of two threads at once.
    renderer.render("x")
    return renderer


def _heading_tag(tag: str, env: Any) -> str:
    lowest = env.get("heading_level", 2) if isinstance(env, dict) else 2
    return f"h{min(6, int(tag[1]) + lowest - 1)}"


def _open_heading(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    return f"<{_heading_tag(tokens[index].tag, env)}>"


def _close_heading(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    return f"</{_heading_tag(tokens[index].tag, env)}>\n"


def _render_inline_maths(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    return f'<span class="maths">{_maths(tokens[index].content, "inline")}</span>'


def _render_block_maths(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    source = tokens[index].content
    reached = ' tabindex="0"' if len(source) > _WIDE_MATHS else ""
    return f'<div class="maths-block"{reached}>{_maths(source, "block")}</div>\n'


@lru_cache(maxsize=512)
def _maths(source: str, display: str) -> str:
    """MathML, or the source where it cannot be converted."""
    if len(source) <= _LONGEST_MATHS and source.count("{") <= _DEEPEST_MATHS:
        # The converter raises errors of many kinds on TeX that it does not know.
        with suppress(Exception):
            return convert_tex(source, display=display)
    return f'<code class="maths-source">{escape(source)}</code>'

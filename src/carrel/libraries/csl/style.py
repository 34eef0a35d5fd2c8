"""A style read from XML and compiled for a language: layouts, sort keys and options."""

import hashlib
from dataclasses import dataclass, field

from carrel.libraries.text.xml import Element

from .casing import capitalize_leading_term
from .context import RenderContext
from .elements import compile_children
from .errors import StyleBrokenError
from .locale import (
    Locale,
    LocaleSource,
    XmlRefusedError,
    build_locale,
    normalize_language,
    parse_csl_xml,
)
from .scope import Area, CompileScope, Render, font_marks, inherited_names
from .sorting import SortKey, compile_sort
from .tokens import DECORATED, FONT_END, Mark, Tokens, mark

LEFT_MARGIN = mark("display", "left-margin")
_style_limit = 64
# Not that of an element of the style: a space that ends it stands behind it.
RIGHT_INLINE = mark("display", "right-inline", flips=True)


@dataclass(slots=True)
class StyleLayout:
    """cs:layout of one area."""

    scope: CompileScope
    children: list[Render]
    prefix: str
    suffix: str
    delimiter: str
    fonts: tuple[Mark, ...]
    options: dict[str, str]
    sort: list[SortKey]

    def render(self, context: RenderContext) -> Tokens:
        out: Tokens = []
        for child in self.children:
            child(context, out)
        for end in (DECORATED, FONT_END):
            if out and out[-1] is end:
                out.pop()
        return out

    def render_aligned(self, context: RenderContext) -> Tokens:
        """The first field in the margin, the rest beside it."""
        first: Tokens = []
        rest: Tokens = []
        for index, child in enumerate(self.children):
            child(context, rest if index else first)
        if not first:
            return (
                [RIGHT_INLINE, *capitalize_leading_term(rest), RIGHT_INLINE.close] if rest else []
            )
        first = capitalize_leading_term(first)
        if not rest:
            return [LEFT_MARGIN, *first, LEFT_MARGIN.close]
        place = next(
            (place for place, token in enumerate(rest) if token.__class__ is str and token), -1
        )
        opening: str = rest[place] if place >= 0 else ""  # type: ignore[assignment]
        if opening[:1] in {",", ".", ";", ":"}:
            # A sign that would open the second block closes the first one.
            first.append(opening[0])
            rest[place] = opening[1:]
        return [
            LEFT_MARGIN,
            *first,
            LEFT_MARGIN.close,
            RIGHT_INLINE,
            *capitalize_leading_term(rest),
            RIGHT_INLINE.close,
        ]


@dataclass(slots=True)
class CompiledStyle:
    locale: Locale
    citation: StyleLayout
    bibliography: StyleLayout | None
    has_disambiguate_test: bool
    # Whether a cite may name the note of its first one, by which cites are told apart.
    names_first_notes: bool


@dataclass(slots=True)
class Style:
    """One independent style. It is compiled for a language at first use."""

    id: str
    title: str
    root: Element
    source: LocaleSource
    is_note: bool
    default_locale: str
    _compiled: dict[str, CompiledStyle] = field(default_factory=dict)

    def compiled(self, language: str | None = None) -> CompiledStyle:
        wanted = normalize_language(language or self.default_locale or "en-US") or "en-US"
        found = self._compiled.get(wanted)
        if found is None:
            try:
                found = self._compiled[wanted] = self._compile(wanted)
            except RecursionError:
                raise StyleBrokenError(self.id, "its elements are nested without end.") from None
        return found

    def _compile(self, language: str) -> CompiledStyle:
        locale = build_locale(language, self.root, self.source)
        compiled = self._layout("citation", locale)
        if compiled is None:
            raise StyleBrokenError(self.id, "it has no citation layout.")
        listed = self._layout("bibliography", locale)
        tests = any("disambiguate" in element.attrib for element in self.root.iter())
        names_notes = any("position" in element.attrib for element in self.root.iter()) and any(
            element.get("variable") == "first-reference-note-number"
            for element in self.root.iter("text")
        )
        return CompiledStyle(locale, compiled, listed, tests, names_notes)

    def _layout(self, name: Area, locale: Locale) -> StyleLayout | None:
        """The compiled layout of an area, or None where the style has none."""
        area = self.root.find(name)
        layout = None if area is None else area.find("layout")
        if area is None or layout is None:
            return None
        inherited = inherited_names(self.root, area)
        scope = CompileScope(self.id, self.root, locale, name, inherited)
        return StyleLayout(
            scope,
            compile_children(layout, scope),
            layout.get("prefix", ""),
            layout.get("suffix", ""),
            layout.get("delimiter", ""),
            tuple(font_marks(layout.attrib)),
            dict(area.attrib),
            compile_sort(area, self.id, self.root, locale, inherited),
        )


_styles: dict[tuple[str, LocaleSource], Style] = {}


def read_style(xml: str, source: LocaleSource, *, name: str = "") -> Style:
    """The style in this XML, compiled once for equal XML. Dependent styles are refused."""
    key = (hashlib.sha256(xml.encode("utf-8", "surrogatepass")).hexdigest(), source)
    found = _styles.get(key)
    if found is not None:
        return found
    try:
        root = parse_csl_xml(xml)
    except XmlRefusedError as problem:
        raise StyleBrokenError(name or "?", f"{problem}.") from None
    if root.tag != "style":
        raise StyleBrokenError(name or "?", "its root element is not a CSL style.")
    info = root.find("info")
    style_id = (info.findtext("id") or "") if info is not None else ""
    title = (info.findtext("title") or "") if info is not None else ""
    style = Style(
        style_id or name or "?",
        title,
        root,
        source,
        root.get("class") == "note",
        root.get("default-locale", ""),
    )
    style.compiled()
    if len(_styles) >= _style_limit:
        _styles.pop(next(iter(_styles)))
    _styles[key] = style
    return style

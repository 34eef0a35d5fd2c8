"""What the elements of one area of a style share while they are compiled."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

from carrel.libraries.text.xml import Element

from .casing import apply_case
from .context import RenderContext
from .errors import StyleBrokenError
from .locale import Locale
from .punctuation import SIGN_PAIRS
from .tokens import (
    DECORATED,
    DECORATED_PREFIX,
    DOUBLE_QUOTES,
    ELEMENT_QUOTES,
    FONT_END,
    FORMATTING,
    MACRO_QUOTES,
    NUMBER_END,
    PREFIX,
    QUOTES,
    SINGLE_QUOTES,
    WORDS,
    Mark,
    Tokens,
    mark,
)

Render = Callable[[RenderContext, Tokens], None]


ITALIC_FONT = mark("font-style", "italic")
_only_ideographs = re.compile(r"[\s\u3000-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+")


def font_marks(attributes: Mapping[str, str]) -> list[Mark]:
    """Innermost first."""
    return [mark(kind, attributes[kind]) for kind in FORMATTING if attributes.get(kind)]


def is_ideographic(tokens: Tokens) -> bool:
    """Whether a text is in Chinese or Japanese signs alone, which have no italics."""
    return len(tokens) == 1 and bool(_only_ideographs.fullmatch(str(tokens[0])))


# A full stop inside a word, an address or a number with letters marks no abbreviation.
_period = re.compile(r"\.(?![a-z])")
_any_period = re.compile(r"\.")


def strip_periods(tokens: Tokens, period: re.Pattern[str] = _period) -> Tokens:
    return [period.sub("", token) if token.__class__ is str else token for token in tokens]


# What strip-periods takes off: of a term (where it says `all` in here) every full stop.
_periods_to_strip = {"true": _period, "all": _any_period}


def always_english(context: RenderContext) -> bool:
    """Words of a style or a locale take title case in every language."""
    return True


def decorate(
    render: Render,
    attributes: Mapping[str, str],
    english: Callable[[RenderContext], bool],
    *,
    is_leaf: bool = False,
    is_group: bool = False,
    language: str = "",
) -> Render:
    """The same rendering with this element's looks; the plain function where it has none."""
    fonts = font_marks(attributes)
    case = attributes.get("text-case", "")
    strips = _periods_to_strip.get(attributes.get("strip-periods", ""))
    display = attributes.get("display", "")
    prefix, suffix = attributes.get("prefix", ""), attributes.get("suffix", "")
    quotes = ELEMENT_QUOTES if is_leaf else MACRO_QUOTES
    marks = [*fonts, quotes] if attributes.get("quotes") == "true" else fonts
    if attributes.get("quotes") == "false":
        render = _with_own_quotes(render, attributes.get(OWN_QUOTES, ""), is_leaf=is_leaf)
    if marks or case or strips or display:
        return _formatted(
            render,
            english,
            marks,
            case,
            display,
            strips=strips,
            prefix=prefix,
            suffix=suffix,
            is_leaf=is_leaf,
            is_group=is_group,
            language=language,
        )
    return _with_affixes(render, prefix, suffix) if prefix or suffix else render


# What a leaf is told besides its attributes: which typed quotation marks its locale has, too.
OWN_QUOTES = "own-quotes"
# Typed quotation marks, and those of the locale in their place.
_typed_quotes = {"“”": (DOUBLE_QUOTES, QUOTES), "‘’": (SINGLE_QUOTES, QUOTES)}


def _with_own_quotes(render: Render, pairs: str, *, is_leaf: bool) -> Render:
    """The rendering with typed quotation marks as the locale has them: quotes is set, to false."""
    own_quotes = {
        token: own
        for signs, (typed, mark) in _typed_quotes.items()
        if signs in pairs.split()
        for token, own in ((typed, mark), (typed.close, mark.close))
    }

    def own(context: RenderContext, out: Tokens) -> None:
        start = len(out)
        render(context, out)
        if len(out) > start + 1:
            out[start:] = [
                token if token.__class__ is str else own_quotes.get(token, token)  # type: ignore[arg-type]
                for token in out[start:]
            ]
        elif is_leaf and len(out) > start:
            out.append(FONT_END)

    return own


def _formatted(
    render: Render,
    english: Callable[[RenderContext], bool],
    marks: list[Mark],
    case: str,
    display: str,
    *,
    strips: re.Pattern[str] | None,
    prefix: str,
    suffix: str,
    is_leaf: bool,
    is_group: bool,
    language: str,
) -> Render:
    """The rendering in this case, between these marks and affixes."""
    has_end = is_leaf and bool(marks)
    is_slanted = is_leaf and marks == [ITALIC_FONT]
    screen = mark("display", display) if display else None
    has_font = any(one.kind != "quotes" for one in marks)
    before = _prefix_tokens(prefix, DECORATED_PREFIX if has_font else PREFIX)
    sets_normal = is_group and any(one.value == "normal" for one in marks)
    end: Tokens = [suffix] if suffix else []
    if has_font:
        end.append(DECORATED)

    def full(context: RenderContext, out: Tokens) -> None:
        inner: Tokens = []
        render(context, inner)
        if not inner:
            return
        if case:
            inner = apply_case(
                inner,
                case,
                case == "title" and english(context),
                (context.item.language or language)[:2],
            )
        if strips:
            inner = strip_periods(inner, strips)
        if screen:
            out.append(screen)
        out += before
        if has_font and not before and inner[0] is PREFIX:
            out.append(DECORATED_PREFIX)
            del inner[0]
        if has_end and inner[-1] is FONT_END:
            inner.pop()
        if is_slanted and is_ideographic(inner):
            out += inner
        else:
            shown = [_seen_normal(one, inner) for one in marks] if sets_normal else marks
            out += reversed(shown)
            out += inner
            out += [one.close for one in shown]
            if has_end and (len(inner) == 1 or inner[1:] == [NUMBER_END]):
                out.append(FONT_END)
        out += end
        if screen:
            out.append(screen.close)

    return full


def _prefix_tokens(prefix: str, edge: Mark) -> Tokens:
    """A prefix with its edge where it begins with a sign, and marked where it has words."""
    if prefix[:1] in SIGN_PAIRS:
        return [edge, prefix]
    if any(letter.isalnum() for letter in prefix):
        return [WORDS, prefix]
    return [prefix] if prefix else []


def _seen_normal(font: Mark, inner: Tokens) -> Mark:
    """The font of a group; one that is set to normal is seen around another of its kind."""
    others = any(
        isinstance(token, Mark)
        and token.kind == font.kind
        and token.value != "normal"
        and not token.flips
        for token in inner
    )
    return mark(font.kind, "normal", flips=True) if font.value == "normal" and others else font


def _with_affixes(render: Render, prefix: str, suffix: str) -> Render:
    if prefix:
        before = _prefix_tokens(prefix, PREFIX)

        def with_prefix(context: RenderContext, out: Tokens) -> None:
            start = len(out)
            out += before
            inner = len(out)
            render(context, out)
            if len(out) == inner:
                del out[start:]
            elif suffix:
                out.append(suffix)

        return with_prefix

    def with_suffix(context: RenderContext, out: Tokens) -> None:
        start = len(out)
        render(context, out)
        if len(out) > start:
            out.append(suffix)

    return with_suffix


Area = Literal["citation", "bibliography", "sort"]
NAME_ATTRIBUTES = (
    "and", "delimiter-precedes-et-al", "delimiter-precedes-last", "et-al-min", "et-al-use-first",
    "et-al-use-last", "et-al-subsequent-min", "et-al-subsequent-use-first", "initialize",
    "initialize-with", "name-as-sort-order", "sort-separator", "name-form", "name-delimiter",
    "names-delimiter",
)  # fmt: skip


# Where a list of names gives way to et al.: a substitute takes this over from its cs:names.
LIMITS = ("et-al-min", "et-al-use-first")


# All branches of a style count. Of the 2,851 independent styles in the repository of CSL,
# chicago-notes has the most, 86,733.
_most_calls = 1_000_000


class CompileScope:
    """Compiles macros once for an area and remembers what names inherit there."""

    def __init__(
        self, style_id: str, root: Element, locale: Locale, area: Area, inherited: dict[str, str]
    ) -> None:
        self.style_id = style_id
        self.root = root
        self.locale = locale
        self.area = area
        self.inherited = inherited
        self.macros = {macro.get("name", ""): macro for macro in root.findall("macro")}
        self.compiled: dict[tuple[object, ...], Render] = {}
        self.strips = False
        # How many groups and macros are around what is being compiled.
        self.depth = 0
        # Options of names that win over those of the names themselves: a sort key has such.
        self.forced: dict[str, str] = {}
        # The name parts of the cs:names whose cs:substitute is being compiled.
        self.name_parts: dict[str, Element] = {}
        self.suppressed: set[Render] = set()
        self.is_note = root.get("class") == "note"
        self.uses_year_suffix = any(
            text.get("variable") == "year-suffix" for text in root.iter("text")
        )
        self.uses_label = any(
            element.get("variable") == "citation-label" for element in root.iter()
        )
        rule = root.find("citation[@givenname-disambiguation-rule]")
        self.opens_givens = root.find("citation[@disambiguate-add-givenname='true']") is not None
        self.initials_only = rule is not None and rule.get(
            "givenname-disambiguation-rule", ""
        ).endswith("with-initials")
        self._open: list[str] = []
        self._calls: dict[str, int] = {}

    @contextmanager
    def go_inside(self) -> Iterator[None]:
        """Compile what is inside of a group or a macro."""
        self.depth += 1
        yield
        self.depth -= 1

    @contextmanager
    def strip_inside(self, element: Element) -> Iterator[None]:
        """Take the periods off the texts inside this element, where it asks for it."""
        before = self.strips
        self.strips = before or element.get("strip-periods") == "true"
        yield
        self.strips = before

    @contextmanager
    def substitute_for(self, parts: dict[str, Element], limits: dict[str, str]) -> Iterator[None]:
        """Format and cut names in here as those that they stand in for, unless they say how."""
        before = self.name_parts, self.inherited
        self.name_parts = {**self.name_parts, **parts}
        self.inherited = {**self.inherited, **limits}
        yield
        self.name_parts, self.inherited = before

    @property
    def is_in_macro(self) -> bool:
        """Whether what is being compiled stands in a macro, not in the layout itself."""
        return bool(self._open)

    @property
    def macro_variant(self) -> tuple[object, ...]:
        """What a macro takes over from the place where it is called."""
        parts = tuple((name, id(part)) for name, part in sorted(self.name_parts.items()))
        limits = tuple(self.inherited.get(name) for name in LIMITS)
        return (self.strips, parts, limits)

    def leaf_attributes(self, element: Element) -> dict[str, str]:
        """The attributes of an element that writes a text of its own."""
        strips = self.strips or element.get("strip-periods") == "true"
        keeps = element.get("variable") in {"DOI", "URL"} or "ordinal" in element.get("form", "")
        kind = "all" if "term" in element.attrib or element.tag == "label" else "true"
        return {
            **self.quoted_attributes(element),
            "strip-periods": kind if strips and not keeps else "false",
        }

    def quoted_attributes(self, element: Element) -> dict[str, str]:
        """The attributes of an element, and where quotes is false the locale's own marks."""
        if element.get("quotes") != "false":
            return dict(element.attrib)
        outer, close, inner, inner_close = self.locale.quotes()
        return {**element.attrib, OWN_QUOTES: f"{outer}{close} {inner}{inner_close}"}

    def english_unless_told(self, context: RenderContext) -> bool:
        """Whether an item is in English for all that is said of it or of the style."""
        default = self.root.get("default-locale", "en")
        return (context.item.language or default)[:2].lower() == "en"

    def english(self, context: RenderContext) -> bool:
        """Whether title case makes sense for this item."""
        item = context.item
        known = item.is_english
        if known is None:
            language = item.language.lower()
            known = item.is_english = language[:2] == "en" if language else self.locale.is_english
        return known

    def enter_macro(self, name: str) -> Element:
        if name not in self.macros:
            raise StyleBrokenError(
                self.style_id, f"it calls a macro {name!r} that it does not define."
            )
        if name in self._open:
            raise StyleBrokenError(self.style_id, f"its macro {name!r} calls itself.")
        self._open.append(name)
        return self.macros[name]

    def count_calls(self, name: str, macro: Element) -> int:
        """How many macros one call of this one runs; nested calls can double it at each step."""
        known = self._calls.get(name)
        if known is None:
            self._calls[name] = 0
            inner = [element.get("macro", "") for element in macro.iter() if element.get("macro")]
            known = 1 + sum(
                self.count_calls(other, self.macros[other])
                for other in inner
                if other in self.macros
            )
            if known > _most_calls:
                raise StyleBrokenError(
                    self.style_id, f"its macro {name!r} runs more than {_most_calls} others."
                )
            self._calls[name] = known
        return known

    def leave_macro(self) -> None:
        self._open.pop()


def inherited_names(*elements: Element | None) -> dict[str, str]:
    """Name options of style, area and element, the later over the earlier."""
    found: dict[str, str] = {}
    for element in elements:
        if element is not None:
            found.update(
                {key: element.attrib[key] for key in NAME_ATTRIBUTES if key in element.attrib}
            )
    return found

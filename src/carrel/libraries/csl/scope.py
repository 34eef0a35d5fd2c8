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
from .tokens import FONT_END, FORMATTING, QUOTES, Mark, Tokens, mark

Render = Callable[[RenderContext, Tokens], None]


ITALIC_FONT = mark("font-style", "italic")
_only_ideographs = re.compile(r"[\s\u3000-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+")


def font_marks(attributes: Mapping[str, str]) -> list[Mark]:
    """Innermost first."""
    return [mark(kind, attributes[kind]) for kind in FORMATTING if attributes.get(kind)]


def strip_periods(tokens: Tokens) -> Tokens:
    return [token.replace(".", "") if token.__class__ is str else token for token in tokens]


def always_english(context: RenderContext) -> bool:
    """Words of a style or a locale take title case in every language."""
    return True


def decorate(
    render: Render,
    attributes: Mapping[str, str],
    english: Callable[[RenderContext], bool],
    *,
    is_leaf: bool = False,
    language: str = "",
) -> Render:
    """The same rendering with this element's looks; the plain function where it has none."""
    fonts = font_marks(attributes)
    case = attributes.get("text-case", "")
    strips = attributes.get("strip-periods") == "true"
    display = attributes.get("display", "")
    prefix, suffix = attributes.get("prefix", ""), attributes.get("suffix", "")
    marks = [*fonts, QUOTES] if attributes.get("quotes") == "true" else fonts
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
            language=language,
        )
    return _with_affixes(render, prefix, suffix) if prefix or suffix else render


def _formatted(
    render: Render,
    english: Callable[[RenderContext], bool],
    marks: list[Mark],
    case: str,
    display: str,
    *,
    strips: bool,
    prefix: str,
    suffix: str,
    is_leaf: bool,
    language: str,
) -> Render:
    """The rendering in this case, between these marks and affixes."""
    opening = tuple(reversed(marks))
    closing = tuple(one.close for one in marks)
    has_end = is_leaf and bool(marks)
    is_slanted = is_leaf and marks == [ITALIC_FONT]
    screen = mark("display", display) if display else None

    def full(context: RenderContext, out: Tokens) -> None:
        inner: Tokens = []
        render(context, inner)
        if not inner:
            return
        if strips:
            inner = strip_periods(inner)
        if case:
            inner = apply_case(
                inner,
                case,
                case == "title" and english(context),
                (context.item.language or language)[:2],
            )
        if screen:
            out.append(screen)
        if prefix:
            out.append(prefix)
        if is_slanted and len(inner) == 1 and _only_ideographs.fullmatch(str(inner[0])):
            # Chinese and Japanese have no italics.
            out += inner
        else:
            out += opening
            out += inner
            out += closing
            if has_end and len(inner) == 1:
                out.append(FONT_END)
        if suffix:
            out.append(suffix)
        if screen:
            out.append(screen.close)

    return full


def _with_affixes(render: Render, prefix: str, suffix: str) -> Render:
    if prefix:

        def with_prefix(context: RenderContext, out: Tokens) -> None:
            start = len(out)
            out.append(prefix)
            render(context, out)
            if len(out) == start + 1:
                out.pop()
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
        self.compiled: dict[tuple[str, bool], Render] = {}
        self.strips = False
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
    def strip_inside(self, element: Element) -> Iterator[None]:
        """Take the periods off the texts inside this element, where it asks for it."""
        before = self.strips
        self.strips = before or element.get("strip-periods") == "true"
        yield
        self.strips = before

    def leaf_attributes(self, element: Element) -> dict[str, str]:
        """The attributes of an element that writes a text of its own."""
        if not self.strips or element.get("variable") in {"DOI", "URL"}:
            return element.attrib
        return {**element.attrib, "strip-periods": "true"}

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

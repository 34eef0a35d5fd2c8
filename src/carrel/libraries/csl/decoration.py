"""Affixes, fonts, quotes, text case, stripped periods and display, put around any element's
rendering.
"""

from collections.abc import Callable, Mapping

from .casing import apply_case
from .context import Context
from .tokens import FORMATTING, QUOTES, Mark, Tokens, mark

Render = Callable[[Context, Tokens], None]
_normal_values = {"", "normal", "none", "baseline"}


def font_marks(attributes: Mapping[str, str]) -> list[Mark]:
    """Innermost first."""
    return [mark(kind, attributes[kind]) for kind in FORMATTING if attributes.get(kind)]


def strip_periods(tokens: Tokens) -> Tokens:
    return [token.replace(".", "") if token.__class__ is str else token for token in tokens]


def decorate(
    render: Render,
    attributes: Mapping[str, str],
    english: Callable[[Context], bool],
    *,
    affixes: bool = True,
) -> Render:
    """The same rendering with this element's looks; the plain function where it has none."""
    fonts = font_marks(attributes)
    case = attributes.get("text-case", "")
    strips = attributes.get("strip-periods") == "true"
    display = attributes.get("display", "")
    prefix = attributes.get("prefix", "") if affixes else ""
    suffix = attributes.get("suffix", "") if affixes else ""
    marks = [*fonts, QUOTES] if attributes.get("quotes") == "true" else fonts
    if marks or case or strips or display:
        opening = tuple(reversed(marks))
        closing = tuple(one.close for one in marks)
        screen = mark("display", display) if display else None

        def full(context: Context, out: Tokens) -> None:
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
                    context.item.language[:2] if context else "",
                )
            if screen:
                out.append(screen)
            if prefix:
                out.append(prefix)
            out += opening
            out += inner
            out += closing
            if suffix:
                out.append(suffix)
            if screen:
                out.append(screen.close)

        return full
    if prefix:

        def with_prefix(context: Context, out: Tokens) -> None:
            start = len(out)
            out.append(prefix)
            render(context, out)
            if len(out) == start + 1:
                out.pop()
            elif suffix:
                out.append(suffix)

        return with_prefix
    if suffix:

        def with_suffix(context: Context, out: Tokens) -> None:
            start = len(out)
            render(context, out)
            if len(out) > start:
                out.append(suffix)

        return with_suffix
    return render

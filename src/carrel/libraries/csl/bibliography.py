"""One entry of a bibliography, and names that repeat the entry before."""

from .capital_term import with_capital_term
from .context import Context, NameSet, NameSubstitution
from .style import SHIFTED, Layout
from .tokens import NAMES, Tokens


def entry_tokens(layout: Layout, context: Context) -> tuple[Tokens, NameSet | None]:
    """The entry, and the names that open it; nothing where the style leaves such works out."""
    if layout.options.get("second-field-align"):
        tokens = layout.render_aligned(context)
    else:
        tokens = with_capital_term(layout.render(context))
    if not tokens:
        return [], None
    names = context.name_sets[0] if context.name_sets and _opens_with_names(tokens) else None
    last = tokens[-1]
    if layout.suffix and last.__class__ is not str and last.kind == "display":  # type: ignore[union-attr]
        tokens.insert(len(tokens) - 1, layout.suffix)
    else:
        tokens.append(layout.suffix)
    fonts = layout.fonts
    return [layout.prefix, *reversed(fonts), *tokens, *(one.close for one in fonts)], names


def _opens_with_names(tokens: Tokens) -> bool:
    """Whether nothing but the margin comes before the names."""
    in_margin = False
    for token in tokens:
        if token is NAMES:
            return True
        if token is SHIFTED or token is SHIFTED.close:
            in_margin = token is SHIFTED
        elif token.__class__ is str and token and not in_margin:
            return False
    return False


def name_substitution(
    before: NameSet | None, now: NameSet, text: str, rule: str
) -> NameSubstitution | None:
    """What stands for the names that the entry before has already shown; None where none repeat."""
    if before is None or not now.names or not before.names:
        return None
    if rule in {"complete-all", "complete-each"}:
        return NameSubstitution(text, rule, len(now.names)) if before.names == now.names else None
    count = 0
    for one, other in zip(before.names, now.names, strict=False):
        if one != other:
            break
        count += 1
        if rule == "partial-first":
            break
    return NameSubstitution(text, rule, count) if count else None

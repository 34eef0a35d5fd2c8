"""One name as tokens: its parts in the order, length and looks that the style asks for."""

from .casing import apply_case
from .markup import read_markup
from .name_options import Look, NameOptions
from .name_values import Name, initials, is_latin_like
from .tokens import Token, Tokens

FAMILY_ONLY, INITIALS, FULL = 0, 1, 2


def base_level(options: NameOptions) -> int:
    """How much of the given name is shown where nothing had to be told apart."""
    if options.form == "short":
        return FAMILY_ONLY
    return INITIALS if options.initialize_with is not None and options.initialize else FULL


def person(name: Name, options: NameOptions, inverted: bool, level: int, in_sort: bool) -> Tokens:
    if name.literal:
        return dressed(read_markup(name.literal), options.family)
    given = _given(name, options, level)
    if not is_latin_like(name.family + name.given):
        return [*dressed(_text(name.family), options.family), *dressed(_text(given), options.given)]
    if name.static_ordering:
        return _joined(
            dressed(_text(name.family), options.family), dressed(_text(given), options.given), " "
        )
    if inverted and level != FAMILY_ONLY:
        return _inverted(name, given, options, in_sort)
    if level == FAMILY_ONLY:
        if in_sort and options.demote != "never":
            return _beside(_text(name.family), _text(name.non_dropping))
        if inverted and name.non_dropping and options.demote == "display-and-sort":
            return [
                *_inside(_text(name.family), options.family),
                options.sort_separator,
                *_inside(_text(name.non_dropping), options.family),
            ]
        return _family_with_particle(name, options)
    if name.dropping[-1:] in {"’", "'"}:
        front = _with_affixes(_inside(_text(given), options.given), options.given)
        bare = _beside(_inside(_text(name.dropping), options.given), _bare_family(name, options))
        both = _beside(front, _with_affixes(bare, options.family))
    else:
        front = _beside(
            _inside(_text(given), options.given), _inside(_text(name.dropping), options.given)
        )
        space = options.particle_space if name.dropping else " "
        both = _beside(
            _with_affixes(front, options.given), _family_with_particle(name, options), space
        )
    if name.suffix:
        both += [", " if name.comma_suffix else " ", *_text(_suffix(name, options))]
    return both


def _suffix(name: Name, options: NameOptions) -> str:
    """Where initials go without a full stop, so does `Jr.`"""
    sign = options.initialize_with
    return name.suffix if sign is None or "." in sign else name.suffix.rstrip(".")


def _given(name: Name, options: NameOptions, level: int) -> str:
    if level == FAMILY_ONLY:
        return ""
    given = name.given
    if not name.family:
        return given
    if options.initialize_with is None and level == INITIALS:
        return initials(given, "", True, options.initialize_hyphen)
    if options.initialize_with is not None and given and is_latin_like(given):
        return initials(
            given,
            options.initialize_with,
            options.initialize and level == INITIALS,
            options.initialize_hyphen,
        )
    return given


def _text(text: str) -> Tokens:
    if text.isalpha():
        return [text]
    return read_markup(text) if text else []


def _inverted(name: Name, given: str, options: NameOptions, in_sort: bool) -> Tokens:
    demoted = name.non_dropping and (
        options.demote == "display-and-sort" or (in_sort and options.demote == "sort-only")
    )
    if demoted:
        family = dressed(_text(name.family), options.family)
        tail = _beside(
            _inside(_text(given), options.given), _inside(_text(name.dropping), options.given)
        )
        tail = _beside(tail, _inside(_text(name.non_dropping), options.family))
    else:
        family = _family_with_particle(name, options)
        tail = _beside(
            _inside(_text(given), options.given), _inside(_text(name.dropping), options.given)
        )
    if in_sort and name.non_dropping[-1:] in {"'", "’"} and not demoted:
        family = [*_text(name.non_dropping), " ", *_text(name.family)]
    tail = _with_affixes(tail, options.given)
    whole = _joined(family, tail, options.sort_separator)
    if name.suffix:
        whole = [*whole, options.sort_separator, *_text(_suffix(name, options))]
    return whole


def _family_with_particle(name: Name, options: NameOptions) -> Tokens:
    return _with_affixes(_bare_family(name, options), options.family)


def _bare_family(name: Name, options: NameOptions) -> Tokens:
    return _beside(
        _inside(_text(name.non_dropping), options.family),
        _inside(_text(name.family), options.family),
        options.particle_space,
    )


def _beside(left: Tokens, right: Tokens, space: str = " ") -> Tokens:
    """Two parts with a space between, but none after an apostrophe or a hyphen."""
    if not left or not right:
        return left or right
    end = next((token for token in reversed(left) if token.__class__ is str), "")
    if end[-1:] in {"’", "'", "-", "‐", " "}:
        return [*left, *right]
    return [*left, space, *right]


def _joined(left: Tokens, right: Tokens, sign: str) -> Tokens:
    return [*left, sign, *right] if left and right else left or right


def _inside(tokens: Tokens, look: Look) -> Tokens:
    if not tokens:
        return tokens
    if look.case:
        tokens = apply_case(tokens, look.case, True)
    if look.fonts:
        opening: list[Token] = [*reversed(look.fonts)]
        tokens = [*opening, *tokens, *(one.close for one in look.fonts)]
    return tokens


def _with_affixes(tokens: Tokens, look: Look) -> Tokens:
    if tokens and look.prefix:
        tokens = [look.prefix, *tokens]
    if tokens and look.suffix:
        tokens = [*tokens, look.suffix]
    return tokens


def dressed(tokens: Tokens, look: Look) -> Tokens:
    """Fonts and case inside, affixes outside."""
    return tokens if look.is_plain else _with_affixes(_inside(tokens, look), look)

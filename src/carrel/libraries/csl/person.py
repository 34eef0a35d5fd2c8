"""One name as tokens: its parts in the order, length and looks that the style asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from carrel.libraries.text.xml import Element

from .casing import apply_case
from .name_values import PersonName, initials, is_latin_like
from .scope import font_marks
from .tokens import Mark, Token, Tokens, read_markup

_many = 10**9


@dataclass(frozen=True, slots=True)
class NameFormat:
    """Fonts, case and affixes of a part of a name, or of the et-al term."""

    fonts: tuple[Mark, ...] = ()
    case: str = ""
    prefix: str = ""
    suffix: str = ""
    language: str = ""

    @property
    def is_plain(self) -> bool:
        return not (self.fonts or self.case or self.prefix or self.suffix)


@dataclass(frozen=True, slots=True)
class NameOptions:
    join: str = ""
    delimiter: str = ", "
    precedes_last: str = "contextual"
    precedes_et_al: str = "contextual"
    et_al_min: int = _many
    et_al_use_first: int = 1
    et_al_use_last: bool = False
    subsequent_min: int = _many
    subsequent_use_first: int = 1
    form: str = "long"
    initialize: bool = True
    initialize_with: str | None = None
    initialize_hyphen: bool = True
    sort_order: str = ""
    sort_separator: str = ", "
    demote: str = "display-and-sort"
    family: NameFormat = NameFormat()
    given: NameFormat = NameFormat()
    name: NameFormat = NameFormat()
    et_al: NameFormat = NameFormat()
    et_al_term: str = "et-al"
    particle_space: str = " "
    names_delimiter: str = ""
    raw: Mapping[str, str] = field(default_factory=dict)


def read_name_format(element: Element | None, language: str) -> NameFormat:
    if element is None:
        return NameFormat()
    attributes = element.attrib
    return NameFormat(
        tuple(font_marks(attributes)),
        attributes.get("text-case", ""),
        attributes.get("prefix", ""),
        attributes.get("suffix", ""),
        language[:2],
    )


def read_options(
    inherited: Mapping[str, str], names: Element, style: Element, language: str
) -> NameOptions:
    """What holds for this cs:names: style, area, cs:names itself, then its cs:name."""
    name, et_al = names.find("name"), names.find("et-al")
    found = dict(inherited)
    found.update({key: value for key, value in names.attrib.items() if key != "delimiter"})
    if name is not None:
        found.update(
            {
                key: value
                for key, value in name.attrib.items()
                if key not in {"form", "delimiter", "prefix", "suffix"}
            }
        )
        if "form" in name.attrib:
            found["name-form"] = name.attrib["form"]
        if "delimiter" in name.attrib:
            found["name-delimiter"] = name.attrib["delimiter"]
    parts = {part.get("name", ""): part for part in (name if name is not None else [])}
    et_al_min = _number(found.get("et-al-min"), _many)
    use_first = _number(found.get("et-al-use-first"), _many)
    return NameOptions(
        join=found.get("and", ""),
        delimiter=found.get("name-delimiter", ", "),
        precedes_last=found.get("delimiter-precedes-last", "contextual"),
        precedes_et_al=found.get("delimiter-precedes-et-al", "contextual"),
        et_al_min=et_al_min,
        et_al_use_first=use_first,
        et_al_use_last=found.get("et-al-use-last") == "true",
        subsequent_min=_number(found.get("et-al-subsequent-min"), et_al_min),
        subsequent_use_first=_number(found.get("et-al-subsequent-use-first"), use_first),
        form=found.get("name-form", "long"),
        initialize=found.get("initialize", "true") != "false",
        initialize_with=found.get("initialize-with"),
        initialize_hyphen=style.get("initialize-with-hyphen", "true") != "false",
        sort_order=found.get("name-as-sort-order", ""),
        sort_separator=found.get("sort-separator", ", "),
        demote=style.get("demote-non-dropping-particle", "display-and-sort"),
        family=read_name_format(parts.get("family"), language),
        given=read_name_format(parts.get("given"), language),
        name=read_name_format(name, language),
        et_al=read_name_format(et_al, language),
        et_al_term=et_al.get("term", "et-al") if et_al is not None else "et-al",
        particle_space="\u00a0" if language[:2] == "fr" else " ",
        names_delimiter=names.get("delimiter", found.get("names-delimiter", "")),
        raw=found,
    )


def _number(value: str | None, default: int) -> int:
    return int(value) if value and value.strip().isdecimal() else default


FAMILY_ONLY, INITIALS, FULL = 0, 1, 2


def base_level(options: NameOptions) -> int:
    """How much of the given name is shown where nothing had to be told apart."""
    if options.form == "short":
        return FAMILY_ONLY
    return INITIALS if options.initialize_with is not None and options.initialize else FULL


def render_name(
    name: PersonName, options: NameOptions, inverted: bool, level: int, in_sort: bool
) -> Tokens:
    if name.literal:
        return apply_name_format(read_markup(name.literal), options.family)
    given = _given(name, options, level)
    if not is_latin_like(name.family + name.given):
        return [
            *_format_inside(_text(name.non_dropping), options.family),
            *apply_name_format(_text(name.family), options.family),
            *apply_name_format(_text(given), options.given),
        ]
    if name.static_ordering or not is_latin_like(name.family):
        return _in_fixed_order(name, given, options)
    if inverted and level != FAMILY_ONLY:
        return _inverted(name, given, options, in_sort)
    if level == FAMILY_ONLY:
        if in_sort and options.demote != "never":
            return _join_with_space(_text(name.family), _text(name.non_dropping))
        if inverted and name.non_dropping and options.demote == "display-and-sort":
            return [
                *_format_inside(_text(name.family), options.family),
                options.sort_separator,
                *_format_inside(_text(name.non_dropping), options.family),
            ]
        return _family_with_particle(name, options)
    if name.dropping and name.non_dropping:
        front = _joined(
            _format_inside(_text(given), options.given),
            _format_inside(_text(name.dropping), options.given),
            " ",
        )
        both = _joined(
            _with_affixes(front, options.given),
            _family_with_particle(name, options),
            options.particle_space,
        )
    elif name.dropping[-1:] in {"’", "'"}:
        front = _with_affixes(_format_inside(_text(given), options.given), options.given)
        bare = _join_with_space(
            _format_inside(_text(name.dropping), options.given), _bare_family(name, options)
        )
        both = _join_with_space(front, _with_affixes(bare, options.family))
    else:
        front = _join_with_space(
            _format_inside(_text(given), options.given),
            _format_inside(_text(name.dropping), options.given),
        )
        space = options.particle_space if name.dropping else " "
        both = _join_with_space(
            _with_affixes(front, options.given), _family_with_particle(name, options), space
        )
    if name.suffix:
        both += [", " if name.comma_suffix else " ", *_text(_suffix(name, options))]
    return both


def _in_fixed_order(name: PersonName, given: str, options: NameOptions) -> Tokens:
    """Family before given name, whatever the style says, without what Latin script adds."""
    parts = (
        _format_inside(_text(name.non_dropping), options.family),
        apply_name_format(_text(name.family), options.family),
        apply_name_format(_text(given), options.given),
    )
    found: Tokens = []
    for part in parts:
        found = _joined(found, part, " ")
    return found


def _suffix(name: PersonName, options: NameOptions) -> str:
    """Where initials go without a full stop, so does `Jr.`"""
    sign = options.initialize_with
    return name.suffix if sign is None or "." in sign else name.suffix.rstrip(".")


def _given(name: PersonName, options: NameOptions, level: int) -> str:
    if level == FAMILY_ONLY:
        return ""
    given = name.given
    if not name.family:
        return given
    if options.initialize_with is None and level == INITIALS:
        return initials(given, "", True, options.initialize_hyphen)
    if level == FULL and options.initialize:
        return given  # Written out to tell two people apart, or for lack of a sign for initials.
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


def _inverted(name: PersonName, given: str, options: NameOptions, in_sort: bool) -> Tokens:
    demoted = name.non_dropping and (
        options.demote == "display-and-sort" or (in_sort and options.demote == "sort-only")
    )
    if demoted:
        family = apply_name_format(_text(name.family), options.family)
        tail = _join_with_space(
            _format_inside(_text(given), options.given),
            _format_inside(_text(name.dropping), options.given),
        )
        tail = _joined(tail, _format_inside(_text(name.non_dropping), options.family), " ")
    else:
        family = _family_with_particle(name, options)
        tail = _join_with_space(
            _format_inside(_text(given), options.given),
            _format_inside(_text(name.dropping), options.given),
        )
    if in_sort and name.non_dropping[-1:] in {"'", "’"} and not demoted:
        family = [*_text(name.non_dropping), " ", *_text(name.family)]
    tail = _with_affixes(tail, options.given)
    whole = _joined(family, tail, options.sort_separator)
    if name.suffix:
        whole = [*whole, options.sort_separator, *_text(_suffix(name, options))]
    return whole


def _family_with_particle(name: PersonName, options: NameOptions) -> Tokens:
    return _with_affixes(_bare_family(name, options), options.family)


def _bare_family(name: PersonName, options: NameOptions) -> Tokens:
    return _join_with_space(
        _format_inside(_text(name.non_dropping), options.family),
        _format_inside(_text(name.family), options.family),
        options.particle_space,
    )


def _join_with_space(left: Tokens, right: Tokens, space: str = " ") -> Tokens:
    """Two parts with a space between, but none after an apostrophe or a hyphen."""
    if not left or not right:
        return left or right
    end = next((token for token in reversed(left) if token.__class__ is str), "")
    if end[-1:] in {"’", "'", "-", "‐", " "}:
        return [*left, *right]
    return [*left, space, *right]


def _joined(left: Tokens, right: Tokens, sign: str) -> Tokens:
    return [*left, sign, *right] if left and right else left or right


def _format_inside(tokens: Tokens, look: NameFormat) -> Tokens:
    if not tokens:
        return tokens
    if look.case:
        tokens = apply_case(tokens, look.case, True, look.language)
    if look.fonts:
        opening: list[Token] = [*reversed(look.fonts)]
        tokens = [*opening, *tokens, *(one.close for one in look.fonts)]
    return tokens


def _with_affixes(tokens: Tokens, look: NameFormat) -> Tokens:
    if tokens and look.prefix:
        tokens = [look.prefix, *tokens]
    if tokens and look.suffix:
        tokens = [*tokens, look.suffix]
    return tokens


def apply_name_format(tokens: Tokens, look: NameFormat) -> Tokens:
    """Fonts and case inside, affixes outside."""
    return tokens if look.is_plain else _with_affixes(_format_inside(tokens, look), look)

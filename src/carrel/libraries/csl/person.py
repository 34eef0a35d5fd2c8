"""One name as tokens: its parts in the order, length and looks that the style asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from carrel.libraries.text.xml import Element

from .casing import apply_case
from .name_values import PersonName, initials, is_latin_like
from .scope import ITALIC_FONT, font_marks, is_ideographic
from .tokens import FORMATTING, Mark, Token, Tokens, mark, read_markup

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
    inherited: Mapping[str, str],
    names: Element,
    style: Element,
    language: str,
    outer_parts: Mapping[str, Element],
    forced: Mapping[str, str],
) -> NameOptions:
    """What holds for this cs:names: style, area, cs:names, its cs:name, what a sort key forces.

    `outer_parts` are the name parts of the cs:names that this one stands in for.
    """
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
    found.update(forced)
    parts = {**outer_parts, **read_name_parts(names)}
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


def read_name_parts(names: Element) -> dict[str, Element]:
    """The cs:name-part elements of a cs:names, by the part that they format."""
    name = names.find("name")
    return {part.get("name", ""): part for part in (name if name is not None else [])}


def read_literal_format(options: NameOptions) -> NameFormat:
    """How a name that is one text looks: as a whole name and as a family name at once."""
    whole, family = options.name, options.family
    fonts = {font.kind: font for font in (*whole.fonts, *family.fonts)}
    return NameFormat(
        tuple(fonts[kind] for kind in FORMATTING if kind in fonts),
        family.case or whole.case,
        language=family.language,
    )


def read_list_format(options: NameOptions) -> NameFormat:
    """How a list with et al. looks: a font that is set to normal is seen where et al. differs."""
    others = {font.kind for font in options.et_al.fonts if font.value != "normal"}
    fonts = tuple(
        mark(font.kind, font.value, flips=True)
        if font.value == "normal" and font.kind in others
        else font
        for font in options.name.fonts
    )
    return replace(options.name, fonts=fonts)


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
        return read_markup(name.literal)  # Its looks are those of `read_literal_format`.
    given = _given(name, options, level)
    if not is_latin_like(name.family + name.given):
        return [
            *_format_inside(_text(name.non_dropping), options.family),
            *_format_inside(_text(name.family), options.family),
            *_format_inside(_text(given), options.given),
        ]
    if name.static_ordering or not is_latin_like(name.family):
        return _in_fixed_order(name, given, options)
    if inverted and level != FAMILY_ONLY:
        return _inverted(name, given, options, in_sort)
    if level == FAMILY_ONLY and not (name.family or name.non_dropping):
        return _format_inside(_text(name.given), options.given)  # All that there is of the name.
    if level == FAMILY_ONLY:
        if in_sort and options.demote != "never":
            return _join_with_space(_text(name.family), _text(name.non_dropping))
        if inverted and name.non_dropping and options.demote == "display-and-sort":
            return [
                *_format_inside(_text(name.family), options.family),
                options.sort_separator,
                *_format_inside(_text(name.non_dropping), options.family),
            ]
        return (_sorted_family if in_sort else _family_with_particle)(name, options)
    return _in_display_order(name, given, options)


def _in_display_order(name: PersonName, given: str, options: NameOptions) -> Tokens:
    """Given name first; the affixes of the family name hold its particles and suffix, too."""
    front = _format_inside(_text(given), options.given)
    if name.family:
        front = _with_affixes(front, options.given)
    dropping = _format_inside(_text(name.dropping), options.given)
    if name.non_dropping:
        family = _joined(dropping, _bare_family(name, options), options.particle_space)
    else:
        family = _join_with_space(dropping, _bare_family(name, options))
    if name.suffix:
        family = [*family, ", " if name.comma_suffix else " ", *_text(_suffix(name, options))]
    space = options.particle_space if name.dropping and not name.non_dropping else " "
    return _join_with_space(front, _with_affixes(family, options.family), space)


def _in_fixed_order(name: PersonName, given: str, options: NameOptions) -> Tokens:
    """Family before given name, whatever the style says, without what Latin script adds."""
    parts = (
        _format_inside(_text(name.non_dropping), options.family),
        _format_inside(_text(name.family), options.family),
        _format_inside(_text(given), options.given),
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
        family = (_sorted_family if in_sort else _family_with_particle)(name, options)
        parts: list[Tokens] = [
            _format_inside(_text(given), options.given),
            _format_inside(_text(name.dropping), options.given),
        ]
        if in_sort and options.demote == "never":
            parts.reverse()  # Kept with the family name, particles come before the given name.
        tail = _join_with_space(parts[0], parts[1])
    tail = _with_affixes(tail, options.given)
    whole = _joined(family, tail, options.sort_separator)
    if name.suffix:
        whole = [*whole, options.sort_separator, *_text(_suffix(name, options))]
    return whole


def _family_with_particle(name: PersonName, options: NameOptions) -> Tokens:
    return _with_affixes(_bare_family(name, options), options.family)


def _sorted_family(name: PersonName, options: NameOptions) -> Tokens:
    """In sort keys, a particle that is kept with the name is a word of its own."""
    if name.non_dropping[-1:] in {"'", "’"}:
        return [*_text(name.non_dropping), " ", *_text(name.family)]
    return _family_with_particle(name, options)


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
        fonts = look.fonts
        if ITALIC_FONT in fonts and is_ideographic(tokens):
            fonts = tuple(one for one in fonts if one is not ITALIC_FONT)
        opening: list[Token] = [*reversed(fonts)]
        tokens = [*opening, *tokens, *(one.close for one in fonts)]
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

"""The options of cs:name, cs:et-al and cs:name-part after inheritance, resolved when the style is
compiled.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from carrel.libraries.text.xml import Element

from .decoration import font_marks
from .tokens import Mark

_many = 10**9


@dataclass(frozen=True, slots=True)
class Look:
    """Fonts, case and affixes of a part of a name, or of the et-al term."""

    fonts: tuple[Mark, ...] = ()
    case: str = ""
    prefix: str = ""
    suffix: str = ""

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
    family: Look = Look()
    given: Look = Look()
    name: Look = Look()
    et_al: Look = Look()
    et_al_term: str = "et-al"
    particle_space: str = " "
    names_delimiter: str = ""
    raw: Mapping[str, str] = field(default_factory=dict)


def read_look(element: Element | None) -> Look:
    if element is None:
        return Look()
    attributes = element.attrib
    return Look(
        tuple(font_marks(attributes)),
        attributes.get("text-case", ""),
        attributes.get("prefix", ""),
        attributes.get("suffix", ""),
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
        family=read_look(parts.get("family")),
        given=read_look(parts.get("given")),
        name=read_look(name),
        et_al=read_look(et_al),
        et_al_term=et_al.get("term", "et-al") if et_al is not None else "et-al",
        particle_space="\u00a0" if language[:2] == "fr" else " ",
        names_delimiter=names.get("delimiter", found.get("names-delimiter", "")),
        raw=found,
    )


def _number(value: str | None, default: int) -> int:
    return int(value) if value and value.strip().isdecimal() else default

"""An item of CSL-JSON, read once: text, names and dates by variable; wrong shapes are refused."""

import re
from collections.abc import Mapping
from typing import Any

from . import schema
from .date_values import DateValue, read_date
from .errors import ItemBrokenError
from .name_lists import ends_in_et_al, et_al_variables
from .name_values import PersonName, read_name
from .schema import NAME_VARIABLES
from .tokens import Tokens, plain, read_markup

# What the processor takes for a date or a number, beside the rules of CSL-JSON.
DATE_VARIABLES = schema.DATE_VARIABLES | {"locator-date"}
NUMBER_VARIABLES = (schema.NUMBER_VARIABLES - {"part", "printing", "supplement"}) | {
    "section",
    "version",
}
_aliases = {
    "journalAbbreviation": "container-title-short",
    "shortTitle": "title-short",
    "event-title": "event",
}
_hack_line = re.compile(r"^\s*([A-Za-z][-_A-Za-z ]*?)\s*:\s*(.+?)\s*$")
_pages_end = re.compile(r"(?<!\\)-|–|,\s|&")
_page_label = re.compile(r"^pp?\.\s+(?=\S)")
_hack_brace = re.compile(r"\{:\s*([-_a-zA-Z]+)\s*:\s*([^{}]+?)\s*\}")


class CitedItem:
    """One work; `present` holds variables that have a value, `et_al` the name lists that go on."""

    __slots__ = (
        "_tokens", "dates", "et_al", "fields", "id", "is_english", "language", "names", "present",
        "type",
    )  # fmt: skip

    def __init__(self, source: Mapping[str, Any]) -> None:
        if not isinstance(source, Mapping):
            raise ItemBrokenError("?", "?", "an item is an object with fields")
        self.id = str(source.get("id", ""))
        self.fields: dict[str, str] = {}
        self.names: dict[str, list[PersonName]] = {}
        self.dates: dict[str, DateValue] = {}
        self._tokens: dict[str, Tokens] = {}
        kind = source.get("type", "")
        self.type = kind if isinstance(kind, str) else ""
        for field, value in source.items():
            if value is None or field in {"id", "type"} or not isinstance(field, str):
                continue
            self._read(field, value)
        note = self.fields.get("note")
        if note and ":" in note:
            self._read_note(note)
        self.language = self.fields.get("language", "")
        self.is_english: bool | None = None
        if "page" in self.fields and "page-first" not in self.fields:
            pages = _page_label.sub("", self.fields["page"].strip())
            self.fields["page-first"] = _pages_end.split(pages, maxsplit=1)[0].rstrip()
        for short in ("title-short", "container-title-short"):
            if short in self.fields and not self.fields[short].strip():
                del self.fields[short]
        self.et_al = et_al_variables(source)
        self.present = {*self.fields, *self.names, *self.dates}
        if "event" in self.present:
            self.present.add("event-title")

    def _read(self, field: str, value: object) -> None:
        if field in NAME_VARIABLES:
            names = self._read_names(field, value)
            if names:
                self.names[field] = names
        elif field in DATE_VARIABLES:
            if not isinstance(value, dict | str | int):
                raise ItemBrokenError(
                    self.id, field, "a date is an object with date-parts, raw or literal"
                )
            date = read_date(value)
            if date is not None:
                self.dates[field] = date
        elif isinstance(value, str):
            text = value.strip() if value[:1].isspace() or value[-1:].isspace() else value
            if text:
                self.fields[_aliases.get(field, field)] = text
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self.fields[_aliases.get(field, field)] = (
                str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
            )

    def _read_names(self, field: str, value: object) -> list[PersonName]:
        values = value if isinstance(value, list) else [value]
        if ends_in_et_al(values):
            values = values[:-1]
        try:
            return [name for name in map(read_name, values) if name is not None]
        except TypeError as problem:
            raise ItemBrokenError(self.id, field, str(problem)) from None

    def _read_note(self, note: str) -> None:
        """Fields kept in the note: `{:field: value}` anywhere, or `field: value` lines.

        Such lines stand on top or below a first line of text; the first line that is none ends
        them. A field that the item has of its own stays a line of the note, but not a date.
        """
        pairs = [(pair[1], pair[2]) for pair in _hack_brace.finditer(note)]
        own = {*self.fields, *self.dates, *self.names} - {"note"}
        kept: list[str] = []
        lines = _hack_brace.sub("", note).split("\n")
        for place, line in enumerate(lines):
            found = _hack_line.match(line)
            if found is None:
                if line.strip() and place:
                    kept += lines[place:]
                    break
                kept.append(line)
                continue
            field = _field_named(found[1])
            is_date = field in DATE_VARIABLES and found[1] == field
            if field is None or (field in own and not is_date):
                kept.append(line)
            else:
                pairs.append((field, found[2]))
        if not pairs:
            return
        for field, value in pairs:
            self._take(field, value)
        rest = "\n".join(kept).strip()
        if rest:
            self.fields["note"] = rest
        else:
            self.fields.pop("note", None)

    def _take(self, field: str, value: str) -> None:
        if field == "type":
            self.type = value
        elif field in NAME_VARIABLES:
            family, _, given = (part.strip() for part in value.partition("||"))
            name = read_name({"family": family, "given": given} if given else value)
            if name is not None:
                self.names.setdefault(field, []).append(name)
        elif field in DATE_VARIABLES or field not in self.fields:
            self._read(field, value)  # A date of the note is more than that of the item.

    def tokens(self, field: str) -> Tokens:
        found = self._tokens.get(field)
        if found is None:
            found = self._tokens[field] = read_markup(self.fields[field])
        return found


_text_words = """type abstract annote archive archive_collection archive-place archive_location
    authority call-number
    citation-label citation-key collection-title collection-title-short container-title
    container-title-short dimensions division DOI event event-title event-place genre ISBN ISSN
    jurisdiction keyword language license medium note original-publisher original-publisher-place
    original-title part-title PMCID PMID publisher publisher-place references reviewed-genre
    reviewed-title scale source status title title-short URL volume-title year-suffix"""
_text_variables = frozenset(_text_words.split())


def _field_named(name: str) -> str | None:
    """The variable of a line in a note; None where there is none of that name."""
    field = name.lower().replace(" ", "-").replace("_", "-")
    if field.upper() in {"DOI", "URL", "ISBN", "ISSN", "PMID", "PMCID"}:
        return field.upper()
    is_known = field in NAME_VARIABLES | DATE_VARIABLES | NUMBER_VARIABLES | _text_variables
    return field if is_known else None


_shares = {1: (4,), 2: (2, 2), 3: (2, 1, 1)}


def citation_label(item: CitedItem) -> str:
    own = item.fields.get("citation-label")
    if own:
        return own
    names = next(
        (
            item.names[variable]
            for variable in ("author", "editor", "translator")
            if variable in item.names
        ),
        [],
    )
    families = [(name.family or name.literal) for name in names][:4]
    shares = _shares.get(len(families), (1, 1, 1, 1))
    letters = "".join(
        family.replace(" ", "")[:share] for family, share in zip(families, shares, strict=False)
    )
    if not letters:
        letters = plain(item.tokens("title")).replace(" ", "")[:4] if "title" in item.fields else ""
    date = item.dates.get("issued")
    year = abs(date.start[0]) % 100 if date is not None else 0
    return f"{letters}{year:02d}"

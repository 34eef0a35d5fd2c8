"""cs:date: localized or built from parts, single dates and ranges, with the year's suffix."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from carrel.libraries.text.xml import Element

from .casing import apply_case
from .context import RenderContext
from .date_values import SEASON, DateValue, Parts
from .locale import Locale
from .numbers import format_number, ordinal_suffix
from .scope import CompileScope, Render, decorate, font_marks, strip_periods
from .tokens import DATE_KEY, NUMBER_END, YEAR_SUFFIX, Mark, Tokens

_place = {"year": 0, "month": 1, "day": 2}
_epoch = 1_000_000_000
_shown = {
    "year": {"year"},
    "year-month": {"year", "month"},
    "year-month-day": {"year", "month", "day"},
}


@dataclass(frozen=True, slots=True)
class DatePart:
    """One cs:date-part with its attributes resolved."""

    name: str
    form: str
    prefix: str
    suffix: str
    range_delimiter: str
    case: str
    strips: bool
    fonts: tuple[Mark, ...]


Piece = tuple[str, Tokens, str]  # prefix, body, suffix


def compile_date(element: Element, scope: CompileScope) -> Render:
    variable = element.get("variable", "")
    parts, delimiter, attributes = _layout(element, scope.locale)
    if scope.strips:
        parts = [replace(part, strips=True) for part in parts]
    if scope.area == "sort":
        return _sort_date(variable, [part.name for part in parts])
    is_suffixed = not scope.uses_year_suffix
    writer = DateWriter(parts, delimiter, scope.locale)

    def render(context: RenderContext, out: Tokens) -> None:
        context.called += 1
        date = context.dates.get(variable)
        if date is None or (context.is_comparing and variable == "accessed"):
            return
        if context.suppressed and variable in context.suppressed:
            return
        if context.suppress_dates and not context.keeps_letter:
            context.rendered += 1
            return
        suffix = context.year_suffix if is_suffixed and not context.has_year_suffix else ""
        start = len(out)
        if context.suppress_dates:
            context.rendered += 1
            if suffix:
                out += writer.letter(suffix)
        else:
            writer.write(date, suffix, out)
        if len(out) > start:
            context.rendered += 1
            if suffix and YEAR_SUFFIX in out[start:]:
                context.has_year_suffix = True
            if context.trace is not None:
                context.trace.append(variable)

    return decorate(render, attributes, scope.english)


def _layout(element: Element, locale: Locale) -> tuple[list[DatePart], str, Mapping[str, str]]:
    form = element.get("form")
    if not form:
        own = [_part(child.attrib) for child in element if child.tag == "date-part"]
        return own, element.get("delimiter", ""), element.attrib
    localized = locale.dates.get(form)
    if localized is None:
        return [], "", element.attrib
    shown = _shown.get(element.get("date-parts", "year-month-day"), _shown["year-month-day"])
    overrides = {
        child.get("name", ""): child.attrib for child in element if child.tag == "date-part"
    }
    parts = []
    for child in localized:
        name = child.get("name", "")
        if child.tag == "date-part" and name in shown:
            parts.append(_part({**child.attrib, **overrides.get(name, {})}))
    attributes = dict(element.attrib)
    for key in ("text-case", "font-style", "font-weight", "font-variant", "prefix", "suffix"):
        if key in localized.attrib and key not in attributes:
            attributes[key] = localized.attrib[key]
    return parts, localized.get("delimiter", ""), attributes


def _part(attributes: Mapping[str, str]) -> DatePart:
    return DatePart(
        attributes.get("name", ""),
        attributes.get("form", ""),
        attributes.get("prefix", ""),
        attributes.get("suffix", ""),
        attributes.get("range-delimiter") or "–",
        attributes.get("text-case", ""),
        attributes.get("strip-periods") == "true",
        tuple(font_marks(attributes)),
    )


_plain_year = _part({"name": "year"})


@dataclass(frozen=True, slots=True)
class DateWriter:
    """Writes dates by the parts of one cs:date."""

    parts: list[DatePart]
    delimiter: str
    locale: Locale

    def write(self, date: DateValue, suffix: str, out: Tokens) -> None:
        if date.literal:
            self._literal(date.literal, out)
        elif date.end is None:
            self._join(self._pieces(date.start, self.parts, suffix, date.season), out)
        elif date.is_open:
            pieces = self._pieces(date.start, self.parts, suffix)
            self._join(pieces, out, cut_end=True)
            if pieces:
                out.append(
                    next((part.range_delimiter for part in self.parts if part.name == "year"), "–")
                )
        else:
            self._range(date.start, date.end, suffix, out)

    def letter(self, suffix: str) -> Tokens:
        """The letter behind a year, in the font and the case of the year."""
        year = next((part for part in self.parts if part.name == "year"), _plain_year)
        opening, closing = reversed(year.fonts), (font.close for font in year.fonts)
        letter = apply_case([suffix], year.case, True) if year.case else [suffix]
        return [YEAR_SUFFIX, *opening, *letter, *closing, YEAR_SUFFIX.close, NUMBER_END]

    def _literal(self, text: str, out: Tokens) -> None:
        """Words in place of a date stand where the year would; no letter follows them."""
        year = next((part for part in self.parts if part.name == "year"), None)
        if year is None:
            # Styles that write the year and the day apart would write the words twice.
            return
        self._join([(year.prefix, self._format_part(text, year), year.suffix)], out)

    def _pieces(
        self, values: Parts, parts: list[DatePart], suffix: str, season: str = ""
    ) -> list[Piece]:
        pieces = []
        for part in parts:
            body = self._body(values, part, season)
            if body:
                if part.name == "year" and suffix:
                    body = [*body, *self.letter(suffix)]
                pieces.append((part.prefix, body, part.suffix))
        return pieces

    def _join(
        self, pieces: list[Piece], out: Tokens, *, cut_start: bool = False, cut_end: bool = False
    ) -> None:
        for index, (prefix, body, suffix) in enumerate(pieces):
            if index and self.delimiter:
                out.append(self.delimiter)
            if prefix and not (cut_start and index == 0):
                out.append(prefix)
            out += body
            if suffix and not (cut_end and index == len(pieces) - 1):
                out.append(suffix)

    def _range(self, start: Parts, end: Parts, suffix: str, out: Tokens) -> None:
        """Write what both ends share once, and all from the greatest differing part twice."""
        parts = self.parts
        shown = {
            part.name
            for part in parts
            if part.name in _place and (start[_place[part.name]] or end[_place[part.name]])
        }
        differing = next(
            (name for name in _place if name in shown and start[_place[name]] != end[_place[name]]),
            "",
        )
        if not differing:
            self._join(self._pieces(start, parts, suffix), out)
            return
        twice = {name for name in shown if _place[name] >= _place[differing]}
        places = [index for index, part in enumerate(parts) if part.name in twice]
        first, last = min(places), max(places) + 1
        head = self._pieces(start, parts[:first], suffix)
        starts = self._pieces(start, parts[first:last], "")
        ends = self._pieces(end, parts[first:last], suffix if differing == "year" else "")
        tail = self._pieces(end, parts[last:], suffix)
        self._join(head, out)
        if head and self.delimiter:
            out.append(self.delimiter)
        self._join(starts, out, cut_end=True)
        if starts and ends:
            out.append(next(part.range_delimiter for part in parts if part.name == differing))
        self._join(ends, out, cut_start=True)
        if tail and self.delimiter:
            out.append(self.delimiter)
        self._join(tail, out)

    def _body(self, values: Parts, part: DatePart, season: str) -> Tokens:
        year, month, day = values
        match part.name:
            case "year":
                text = _year(year, part.form, self.locale)
            case "month":
                text = (
                    (self.locale.term(season) or season)
                    if season
                    else _month(month, part.form, self.locale)
                )
            case "day":
                text = _day(day, month, part.form, self.locale)
            case _:
                text = ""
        return self._format_part(text, part) if text else []

    def _format_part(self, text: str, part: DatePart) -> Tokens:
        tokens: Tokens = [text]
        if part.strips:
            tokens = strip_periods(tokens)
        if part.case:
            tokens = apply_case(tokens, part.case, self.locale.is_english)
        if part.fonts:
            tokens = [*reversed(part.fonts), *tokens, *(one.close for one in part.fonts)]
        return tokens


def _year(year: int, form: str, locale: Locale) -> str:
    if not year:
        return ""
    if year < 0:
        return f"{-year}{locale.term('bc') or ''}"
    if form == "short" and year >= 1000:
        return f"{year % 100:02d}"
    if year < 1000:
        return f"{year}{locale.term('ad') or ''}"
    return str(year)


def _month(month: int, form: str, locale: Locale) -> str:
    if not month:
        return ""
    if month > SEASON:
        if form.startswith("numeric"):
            return ""
        return locale.term(f"season-{month - SEASON:02d}") or ""
    if form == "numeric":
        return str(month)
    if form == "numeric-leading-zeros":
        return f"{month:02d}"
    name = locale.term(f"month-{month:02d}", "short" if form == "short" else "long") or ""
    return name.replace("'", "’")


def _day(day: int, month: int, form: str, locale: Locale) -> str:
    if not day:
        return ""
    if form == "numeric-leading-zeros":
        return f"{day:02d}"
    if form == "ordinal" and (day == 1 or not locale.limit_day_ordinals):
        gender = locale.gender_of(f"month-{month:02d}")
        return (
            f"{day}{ordinal_suffix(day, locale, gender)}"
            if gender
            else format_number(day, "ordinal", locale)
        )
    return str(day)


def _sort_date(variable: str, names: list[str]) -> Render:
    """In sort keys a date is digits, so that text order is time order."""

    def render(context: RenderContext, out: Tokens) -> None:
        context.called += 1
        date = context.dates.get(variable)
        if date is None:
            return
        context.rendered += 1
        out += (DATE_KEY, sort_key(date, names or ["year", "month", "day"]))

    return render


def sort_key(date: DateValue, names: list[str]) -> str:
    """Digits that sort by time; words in place of a date sort like no date."""
    if date.literal:
        return ""
    key = _sortable(date.start, names)
    if date.end is not None and not date.is_open:
        key = f"{key} {_sortable(date.end, names)}"
    return key


def _sortable(values: Parts, names: list[str]) -> str:
    year, month, day = (
        value if name in names else 0
        for value, name in zip(values, ("year", "month", "day"), strict=True)
    )
    if month > SEASON:
        month = 0  # A season says nothing about the order within its year.
    # All above zero, so that years before the era sort first and digits stay digits.
    return f"{year + _epoch}{month:02d}{day:02d}"

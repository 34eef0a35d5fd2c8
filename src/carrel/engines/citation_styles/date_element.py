"""cs:date: localized or built from parts, single dates and ranges, with the year's suffix behind the year."""

from collections.abc import Mapping
from dataclasses import dataclass

from .casing import apply_case
from .context import Context
from .date_values import NOTHING, SEASON, DateValue, Parts
from .decoration import Render, decorate, font_marks, strip_periods
from .locale import Locale
from .numbers import format_number, ordinal_suffix
from .scope import Scope
from .tokens import YEAR_SUFFIX, Mark, Tokens
from .xml_source import Element

_place = {"year": 0, "month": 1, "day": 2}
_epoch = 1_000_000_000
_shown = {"year": {"year"}, "year-month": {"year", "month"}, "year-month-day": {"year", "month", "day"}}


@dataclass(frozen=True, slots=True)
class Part:
    """One cs:date-part with its attributes resolved."""

    name: str
    form: str
    prefix: str
    suffix: str
    range_delimiter: str
    case: str
    strips: bool
    fonts: tuple[Mark, ...]


def compile_date(element: Element, scope: Scope) -> Render:
    variable = element.get("variable", "")
    parts, delimiter, attributes = _layout(element, scope.locale)
    if scope.area == "sort":
        return _sort_date(variable, [part.name for part in parts])
    is_suffixed = variable == "issued" and not scope.uses_year_suffix

    def render(context: Context, out: Tokens) -> None:
        context.called += 1
        date = context.dates.get(variable)
        if date is None or (context.is_comparing and variable == "accessed") or (context.suppressed and variable in context.suppressed):
            return
        suffix = context.year_suffix if is_suffixed and not context.has_year_suffix else ""
        start = len(out)
        if date.literal:
            _literal(date.literal, parts, scope.locale, out)
            if suffix:
                context.has_year_suffix = True
                out += (YEAR_SUFFIX, suffix, YEAR_SUFFIX.close)
        else:
            _date(date, parts, delimiter, scope.locale, suffix, context, out)
        if len(out) > start:
            context.rendered += 1
            if context.trace is not None:
                context.trace.append(variable)

    return decorate(render, attributes, scope.english)


def _layout(element: Element, locale: Locale) -> tuple[list[Part], str, Mapping[str, str]]:
    form = element.get("form")
    if not form:
        own = [_part(child.attrib, locale) for child in element if child.tag == "date-part"]
        return own, element.get("delimiter", ""), element.attrib
    localized = locale.dates.get(form)
    if localized is None:
        return [], "", element.attrib
    shown = _shown.get(element.get("date-parts", "year-month-day"), _shown["year-month-day"])
    overrides = {child.get("name", ""): child.attrib for child in element if child.tag == "date-part"}
    parts = []
    for child in localized:
        name = child.get("name", "")
        if child.tag == "date-part" and name in shown:
            parts.append(_part({**child.attrib, **overrides.get(name, {})}, locale))
    attributes = dict(element.attrib)
    for key in ("text-case", "font-style", "font-weight", "font-variant", "prefix", "suffix"):
        if key in localized.attrib and key not in attributes:
            attributes[key] = localized.attrib[key]
    return parts, localized.get("delimiter", ""), attributes


def _part(attributes: Mapping[str, str], locale: Locale) -> Part:
    return Part(
        attributes.get("name", ""),
        attributes.get("form", ""),
        attributes.get("prefix", ""),
        attributes.get("suffix", ""),
        attributes.get("range-delimiter", "–"),
        attributes.get("text-case", ""),
        attributes.get("strip-periods") == "true",
        tuple(font_marks(attributes)),
    )


def _date(date: DateValue, parts: list[Part], delimiter: str, locale: Locale, suffix: str, context: Context, out: Tokens) -> None:
    pieces = _pieces(date.start, parts, locale, suffix, context, date.season)
    if date.end is None:
        _join(pieces, delimiter, out)
        return
    if date.is_open:
        _join(pieces, delimiter, out)
        if pieces:
            if out and out[-1] == pieces[-1][2] and out[-1]:
                out.pop()
            out.append(next((part.range_delimiter for part in parts if part.name == "year"), "–"))
        return
    _range(date, parts, delimiter, locale, suffix, context, out)


def _literal(text: str, parts: list[Part], locale: Locale, out: Tokens) -> None:
    """Words in place of a date look as the year would."""
    year = next((part for part in parts if part.name == "year"), None)
    if year is None:
        out.append(text)
        return
    _join([(year.prefix, _dressed(text, year, locale), year.suffix)], "", out)


Piece = tuple[str, Tokens, str]  # prefix, body, suffix


def _pieces(values: Parts, parts: list[Part], locale: Locale, suffix: str, context: Context, season: str = "") -> list[Piece]:
    pieces = []
    for part in parts:
        body = _body(values, part, locale, season)
        if body:
            if part.name == "year" and suffix:
                context.has_year_suffix = True
                body = [*body, YEAR_SUFFIX, suffix, YEAR_SUFFIX.close]
            pieces.append((part.prefix, body, part.suffix))
    return pieces


def _join(pieces: list[Piece], delimiter: str, out: Tokens, *, cut_start: bool = False, cut_end: bool = False) -> None:
    for index, (prefix, body, suffix) in enumerate(pieces):
        if index and delimiter:
            out.append(delimiter)
        if prefix and not (cut_start and index == 0):
            out.append(prefix)
        out += body
        if suffix and not (cut_end and index == len(pieces) - 1):
            out.append(suffix)


def _range(date: DateValue, parts: list[Part], delimiter: str, locale: Locale, suffix: str, context: Context, out: Tokens) -> None:
    start, end = date.start, date.end or NOTHING
    named = [part for part in parts if part.name in _place]
    shown = {part.name for part in named if start[_place[part.name]] or end[_place[part.name]]}
    differing = next((name for name in ("year", "month", "day") if name in shown and start[_place[name]] != end[_place[name]]), "")
    if not differing:
        _join(_pieces(start, parts, locale, suffix, context), delimiter, out)
        return
    twice = {name for name in shown if _place[name] >= _place[differing]}
    places = [index for index, part in enumerate(parts) if part.name in twice]
    first, last = min(places), max(places)
    sign = next(part.range_delimiter for part in parts if part.name == differing)
    head = _pieces(start, parts[:first], locale, suffix, context)
    _join(head, delimiter, out)
    if head and delimiter:
        out.append(delimiter)
    start_pieces = _pieces(start, parts[first : last + 1], locale, "", context)
    tail = _pieces(end, parts[last + 1 :], locale, suffix, context)
    inner_suffix = suffix if differing == "year" else ""
    end_pieces = _pieces(end, parts[first : last + 1], locale, inner_suffix, context)
    _join(start_pieces, delimiter, out, cut_end=True)
    if end_pieces:
        if start_pieces:
            out.append(sign)
        _join(end_pieces, delimiter, out, cut_start=True)
    if tail and delimiter:
        out.append(delimiter)
    _join(tail, delimiter, out)


def _body(values: Parts, part: Part, locale: Locale, season: str = "") -> Tokens:
    year, month, day = values
    match part.name:
        case "year":
            text = _year(year, part.form, locale)
        case "month":
            text = (locale.term(season) or season) if season else _month(month, part.form, locale)
        case "day":
            text = _day(day, month, part.form, locale)
        case _:
            text = ""
    return _dressed(text, part, locale) if text else []


def _dressed(text: str, part: Part, locale: Locale) -> Tokens:
    tokens: Tokens = [text]
    if part.strips:
        tokens = strip_periods(tokens)
    if part.case:
        tokens = apply_case(tokens, part.case, locale.is_english)
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
    return locale.term(f"month-{month:02d}", "short" if form == "short" else "long") or ""


def _day(day: int, month: int, form: str, locale: Locale) -> str:
    if not day:
        return ""
    if form == "numeric-leading-zeros":
        return f"{day:02d}"
    if form == "ordinal" and (day == 1 or not locale.limit_day_ordinals):
        gender = locale.gender_of(f"month-{month:02d}")
        return f"{day}{ordinal_suffix(day, locale, gender)}" if gender else format_number(day, "ordinal", locale)
    return str(day)


def _sort_date(variable: str, names: list[str]) -> Render:
    """In sort keys a date is digits, so that text order is time order."""

    def render(context: Context, out: Tokens) -> None:
        context.called += 1
        date = context.dates.get(variable)
        if date is None:
            return
        context.rendered += 1
        out.append(sort_key(date, names or ["year", "month", "day"]))

    return render


def sort_key(date: DateValue, names: list[str]) -> str:
    if date.literal:
        return date.literal
    key = _sortable(date.start, names)
    if date.end is not None and not date.is_open:
        key = f"{key}-{_sortable(date.end, names)}"
    return key


def _sortable(values: Parts, names: list[str]) -> str:
    year, month, day = (value if name in names else 0 for value, name in zip(values, ("year", "month", "day"), strict=True))
    # All above zero, so that years before the era sort first and digits stay digits.
    return f"{year + _epoch}{month:02d}{day:02d}"

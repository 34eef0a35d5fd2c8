"""The tests of cs:if: each attribute compiled to a question about the context."""

from collections.abc import Callable

from carrel.libraries.text.xml import Element

from .context import FIRST, IBID, IBID_WITH_LOCATOR, SUBSEQUENT, RenderContext
from .numbers import is_numeric

Test = Callable[[RenderContext], bool]
_attributes = (
    "type",
    "variable",
    "is-numeric",
    "is-uncertain-date",
    "position",
    "disambiguate",
    "locator",
)


def compile_condition(element: Element) -> Test:
    """One test for the element: all, any or none of what its attributes ask."""
    match = element.get("match", "all")
    tests = [
        test
        for attribute in _attributes
        for test in _tests(attribute, element.get(attribute, ""), match)
    ]
    if len(tests) == 1 and match != "none":
        return tests[0]
    if match == "none":
        if len(tests) == 1:
            only = tests[0]
            return lambda context: not only(context)
        return lambda context: not any(test(context) for test in tests)
    if match == "any":
        return lambda context: any(test(context) for test in tests)
    return lambda context: all(test(context) for test in tests)


def _tests(attribute: str, value: str, match: str) -> list[Test]:
    words = value.split()
    if not words:
        return []
    if attribute == "type":
        # A work has one type, so a list of them always means any.
        types = frozenset(words)
        return [lambda context: context.item.type in types]
    if attribute == "variable" and match == "any" and not set(words) & set(_special_variables):
        names = frozenset(words)
        return [lambda context: not names.isdisjoint(context.present)]
    return [_makers[attribute](word) for word in words]


def _variable(word: str) -> Test:
    special = _special_variables.get(word)
    if special is not None:
        return special
    return lambda context: word in context.present


_special_variables: dict[str, Test] = {
    "locator": lambda context: bool(context.cite.locator),
    "citation-number": lambda context: context.citation_number > 0,
    "year-suffix": lambda context: bool(context.year_suffix),
    "first-reference-note-number": lambda context: context.cite.first_note_number > 0,
}


def _is_numeric(word: str) -> Test:
    if word == "locator":
        return lambda context: is_numeric(context.cite.locator)
    if word in {"citation-number", "first-reference-note-number"}:
        return _variable(word)
    return lambda context: word in context.fields and is_numeric(context.fields[word], word)


def _is_uncertain_date(word: str) -> Test:
    return lambda context: word in context.dates and context.dates[word].is_uncertain


_reached = {
    FIRST: frozenset({FIRST}),
    SUBSEQUENT: frozenset({SUBSEQUENT, IBID, IBID_WITH_LOCATOR}),
    IBID: frozenset({IBID, IBID_WITH_LOCATOR}),
    IBID_WITH_LOCATOR: frozenset({IBID_WITH_LOCATOR}),
}


def _position(word: str) -> Test:
    if word == "near-note":
        return lambda context: not context.in_bibliography and context.cite.is_near_note
    reached = _reached.get(word, frozenset())
    return lambda context: not context.in_bibliography and context.cite.position in reached


def _disambiguate(word: str) -> Test:
    if word != "true":
        return lambda context: not context.disambiguation.conditions

    def is_open(context: RenderContext) -> bool:
        context.tested_conditions += 1
        return context.tested_conditions <= context.disambiguation.conditions

    return is_open


def _locator(word: str) -> Test:
    word = word.replace(" ", "-")
    return lambda context: (
        bool(context.cite.locator) and context.cite.label.replace(" ", "-") == word
    )


_makers: dict[str, Callable[[str], Test]] = {
    "variable": _variable,
    "is-numeric": _is_numeric,
    "is-uncertain-date": _is_uncertain_date,
    "position": _position,
    "disambiguate": _disambiguate,
    "locator": _locator,
}

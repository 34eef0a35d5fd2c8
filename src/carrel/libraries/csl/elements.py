"""Text, numbers, labels, groups and choices, compiled to closures that write tokens."""

from collections.abc import Sequence
from copy import copy

from carrel.libraries.text.xml import Element

from .conditions import Test, compile_condition
from .context import RenderContext
from .date_element import compile_date
from .errors import StyleBrokenError
from .items import DATE_VARIABLES, NUMBER_VARIABLES
from .name_element import compile_names
from .number_element import citation_number, compile_label, compile_number, locator, numeric_field
from .punctuation import SIGN_PAIRS
from .scope import CompileScope, Render, always_english, decorate
from .tokens import (
    DATE_KEY,
    DECORATED,
    DECORATED_PREFIX,
    DELIMITER,
    FONT_END,
    GLUE,
    GROUP_END,
    PART_SIGNS,
    PREFIX,
    SIGN_END,
    TERM,
    YEAR_SUFFIX,
    Tokens,
    read_markup,
)


def compile_children(element: Element, scope: CompileScope, delimiter: str = "") -> list[Render]:
    """The compiled children; a group's delimiter also stands between what a cs:choose renders."""
    return [
        compiled
        for child in element
        if isinstance(child.tag, str) and (compiled := compile_element(child, scope, delimiter))
    ]


def compile_element(element: Element, scope: CompileScope, delimiter: str = "") -> Render | None:
    if scope.depth and "display" in element.attrib:
        # Blocks divide an entry: only what stands in the layout itself is one.
        inner = copy(element)
        inner.attrib = {key: value for key, value in element.attrib.items() if key != "display"}
        element = inner
    match element.tag:
        case "text":
            return _text(element, scope)
        case "group":
            return _group(element, scope)
        case "choose":
            return _choose(element, scope, delimiter)
        case "number":
            return compile_number(element, scope)
        case "label":
            return compile_label(element, scope)
        case "date":
            return compile_date(element, scope)
        case "names":
            return compile_names(element, scope, compile_element)
        case _:
            return None


def render_in_sequence(children: Sequence[Render]) -> Render:
    if len(children) == 1:
        return children[0]

    def run(context: RenderContext, out: Tokens) -> None:
        for child in children:
            child(context, out)

    return run


def render_with_delimiter(children: Sequence[Render], delimiter: str) -> Render:
    """The children with a delimiter between those that say something."""
    if not delimiter or len(children) == 1:
        return render_in_sequence(children)

    signs: Tokens = [DELIMITER, delimiter] if delimiter[0] in SIGN_PAIRS else [delimiter]

    def run(context: RenderContext, out: Tokens) -> None:
        any_yet = False
        for child in children:
            if any_yet:
                before = len(out)
                out += signs
                start = len(out)
                child(context, out)
                if len(out) == start:
                    del out[before:]
            else:
                start = len(out)
                child(context, out)
                any_yet = len(out) > start

    return run


def _group(element: Element, scope: CompileScope) -> Render:
    delimiter = element.get("delimiter", "")
    with scope.go_inside():
        children = compile_children(element, scope, delimiter)
    return decorate(
        _suppress_empty(
            render_with_delimiter(children, delimiter),
            scope,
            is_suffixed="suffix" in element.attrib,
        ),
        element.attrib,
        scope.english,
        is_group=True,
    )


def _suppress_empty(inner: Render, scope: CompileScope, *, is_suffixed: bool = False) -> Render:
    """Render nothing where variables were called and none had a value; never wrapped twice."""
    if inner in scope.suppressed:
        return inner

    def group(context: RenderContext, out: Tokens) -> None:
        start = len(out)
        called, rendered = context.called, context.rendered
        has_silent_names = context.has_silent_names
        inner(context, out)
        if len(out) == start:
            context.has_silent_names = has_silent_names
            return
        if out[-1] is DECORATED:
            out.pop()
        if out[start] is DECORATED_PREFIX:
            out[start] = PREFIX
        end = out[-1]
        if end is FONT_END:
            out.pop()
        elif end.__class__ is str and end[-1:] in PART_SIGNS:
            out.append(GROUP_END)
        elif end in SIGN_PAIRS and not is_suffixed:
            out.append(SIGN_END)
        if context.called == called:
            # Words alone: inside another group they count as something said.
            context.called += 1
            context.rendered += 1
        elif context.rendered == rendered:
            del out[start:]
            context.has_silent_names = has_silent_names

    scope.suppressed.add(group)
    return group


def _choose(element: Element, scope: CompileScope, delimiter: str) -> Render:
    branches: list[tuple[Test, Render]] = []
    for child in element:
        if child.tag in {"if", "else-if", "else"}:
            test = compile_condition(child) if child.tag != "else" else _always
            branches.append(
                (test, render_with_delimiter(compile_children(child, scope, delimiter), delimiter))
            )
    if len(branches) == 1:
        only, render = branches[0]

        def one(context: RenderContext, out: Tokens) -> None:
            if only(context):
                render(context, out)

        return one

    def choose(context: RenderContext, out: Tokens) -> None:
        for test, render in branches:
            if test(context):
                render(context, out)
                return

    return choose


def _always(context: RenderContext) -> bool:
    return True


def compile_macro(name: str, scope: CompileScope) -> Render:
    key = (name, *scope.macro_variant)
    found = scope.compiled.get(key)
    if found is None:
        element = scope.enter_macro(name)
        scope.count_calls(name, element)
        with scope.go_inside():
            children = compile_children(element, scope)
        found = _suppress_empty(render_in_sequence(children), scope)
        if scope.area == "sort" and element.find(".//date") is not None:
            found = _dates_alone(found)
        scope.compiled[key] = found
        scope.leave_macro()
    return found


def _dates_alone(render: Render) -> Render:
    """Of a macro with a date only the date sorts, so that no words come before or after any."""

    def dates(context: RenderContext, out: Tokens) -> None:
        inner: Tokens = []
        render(context, inner)
        for place, token in enumerate(inner):
            if token is DATE_KEY:
                out += (DATE_KEY, inner[place + 1], " ")

    return dates


def _text(element: Element, scope: CompileScope) -> Render:
    attributes = element.attrib
    if "macro" in attributes:
        # Case on a macro call is ignored, as by the engines that styles are written for.
        formatting = {
            name: value
            for name, value in scope.quoted_attributes(element).items()
            if name not in {"text-case", "strip-periods"}
        }
        with scope.strip_inside(element):
            render = compile_macro(attributes["macro"], scope)
        return decorate(render, formatting, scope.english)
    attributes = scope.leaf_attributes(element)
    if "value" in attributes:
        value = attributes["value"]
        if not value:
            return _nothing
        tokens = read_markup(value)
        if value[0] in SIGN_PAIRS and not value.strip(_SIGNS):
            # A text of the style that is nothing but a sign is meant as it stands.
            tokens.insert(0, GLUE)
        return decorate(
            lambda context, out: out.extend(tokens),
            attributes,
            always_english,
            is_leaf=True,
            language=scope.locale.language,
        )
    if "term" in attributes:
        return decorate(
            _term(element, scope),
            attributes,
            always_english,
            is_leaf=True,
            language=scope.locale.language,
        )
    variable = attributes.get("variable", "")
    if not variable:
        raise StyleBrokenError(
            scope.style_id, "a cs:text names neither variable, macro, term nor value."
        )
    return decorate(
        _variable(variable, element.get("form", "long"), scope),
        attributes,
        scope.english if variable in _of_the_locale else scope.english_unless_told,
        is_leaf=True,
        language=scope.locale.language,
    )


# In these a style that is for any language goes by that of its locale.
_of_the_locale = frozenset(
    {
        "archive", "archive-place", "authority", "collection-title", "container-title", "event",
        "event-place", "genre", "jurisdiction", "medium", "publisher", "publisher-place", "title",
        "title-short",
    }
)  # fmt: skip
_SIGNS = "".join(SIGN_PAIRS) + " \u00a0"


def _nothing(context: RenderContext, out: Tokens) -> None:
    """Renders nothing."""


def _term(element: Element, scope: CompileScope) -> Render:
    term = scope.locale.term(
        element.get("term", ""), element.get("form", "long"), element.get("plural") == "true"
    )
    if not term:
        return _nothing
    term = term.replace("'", "’")
    takes_capital = scope.area == "bibliography" or (scope.is_note and scope.area == "citation")
    if takes_capital and "text-case" not in element.attrib:
        # Behind names that say nothing it does not come first.
        return lambda context, out: out.extend(
            (term,) if context.has_silent_names else (TERM, term)
        )
    return lambda context, out: out.append(term)


def _variable(variable: str, form: str, scope: CompileScope) -> Render:
    special = _special(variable, scope)
    if special is not None:
        return special
    if variable in DATE_VARIABLES:
        return _nothing
    candidates = [variable]
    if variable == "event-title":
        candidates = ["event"]
    elif form == "short":
        candidates = [f"{variable}-short", variable]
    first, others = candidates[0], candidates[1:]

    def render(context: RenderContext, out: Tokens) -> None:
        context.called += 1
        field = first
        if field not in context.fields:
            for field in others:
                if field in context.fields:
                    break
            else:
                return
        if context.suppressed and variable in context.suppressed:
            return
        context.rendered += 1
        if context.trace is not None:
            context.trace.append(variable)
        out += context.item.tokens(field)

    return render


def _special(variable: str, scope: CompileScope) -> Render | None:
    match variable:
        case "citation-number":
            return citation_number
        case "citation-label":
            return _citation_label
        case "year-suffix":
            return _year_suffix
        case "first-reference-note-number":
            return _first_note
        case "locator":
            return locator(scope)
    if variable in NUMBER_VARIABLES:
        return numeric_field(variable, scope)
    return None


def _citation_label(context: RenderContext, out: Tokens) -> None:
    context.called += 1
    label = context.citation_label
    if label:
        context.rendered += 1
        out.append(label)
        if context.year_suffix and not context.has_year_suffix:
            context.has_year_suffix = True
            out += (YEAR_SUFFIX, context.year_suffix, YEAR_SUFFIX.close)


def _year_suffix(context: RenderContext, out: Tokens) -> None:
    if context.year_suffix and not context.has_year_suffix:
        context.called += 1
        context.rendered += 1
        context.has_year_suffix = True
        out += (YEAR_SUFFIX, context.year_suffix, YEAR_SUFFIX.close)


def _first_note(context: RenderContext, out: Tokens) -> None:
    context.called += 1
    if context.cite.first_note_number:
        context.rendered += 1
        out.append(str(context.cite.first_note_number))

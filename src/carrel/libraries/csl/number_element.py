"""cs:number and cs:label, and the variables that hold numbers wherever they are rendered."""

from collections.abc import Callable

from carrel.libraries.text.xml import Element

from .casing import apply_case
from .context import RenderContext
from .numbers import NumberForm, read_numbers
from .scope import CompileScope, Render, always_english, decorate
from .tokens import CITATION_NUMBER, NUMBER_END, Tokens

_hyphenated = frozenset(
    {"version", "section", "part-number", "printing-number", "supplement-number"}
)
_totals = frozenset({"number-of-volumes", "number-of-pages"})


# Of these, what does not rise is no range (`2007-8` has so many pages), but where a style cuts
# ranges.
_rising = frozenset({"number-of-pages", "number-of-volumes", "chapter-number"})


def number_form(
    variable: str, scope: CompileScope, form: str = "numeric", case: str = ""
) -> NumberForm:
    is_page = variable in {"page", "locator"}
    dash = scope.locale.term("page-range-delimiter") or "–"
    if variable == "collection-number" and dash == "-":
        dash = "–"
    return NumberForm(
        scope.locale,
        form,
        scope.locale.gender_of(variable),
        dash,
        scope.root.get("page-range-format", "") if is_page else "",
        variable not in _hyphenated,
        variable == "page",
        variable in _rising and not scope.root.get("page-range-format"),
        case,
    )


def locator(scope: CompileScope, form: str = "numeric", case: str = "") -> Render:
    pages = number_form("locator", scope, form, case)
    others = number_form("volume", scope, form, case)

    def render(context: RenderContext, out: Tokens) -> None:
        context.called += 1
        locator = context.cite.locator
        if locator:
            context.rendered += 1
            context.has_locator = True
            written = pages if context.cite.label == "page" else others
            out += (written.write(read_numbers(locator, scope.locale)), NUMBER_END)

    return render


def numeric_field(
    variable: str, scope: CompileScope, form: str = "numeric", case: str = ""
) -> Render:
    """The numbers of a field, each in this case; what is no number is one text."""
    written = number_form(variable, scope, form, case)
    own_labels = {"", variable}

    def render(context: RenderContext, out: Tokens) -> None:
        context.called += 1
        value = context.fields.get(variable)
        if value is None or (context.suppressed and variable in context.suppressed):
            return
        context.rendered += 1
        if context.trace is not None:
            context.trace.append(variable)
        if value.isdigit() and form == "numeric":
            out += (value, NUMBER_END)
            return
        tokens = context.item.tokens(variable)
        numbers = read_numbers(value, scope.locale)
        if len(tokens) > 1 or numbers.label not in own_labels or not numbers.texts[0][:1].strip():
            out += apply_case(tokens, case, scope.english(context), scope.locale.language[:2])
        elif len(numbers.texts) == 1 and not numbers.texts[0].isdigit():
            if numbers.label or "\\" in value:
                tokens = [numbers.texts[0]]
            out += apply_case(tokens, case, scope.english(context), scope.locale.language[:2])
        else:
            out += (written.write(numbers).replace("'", "’"), NUMBER_END)

    return render


def citation_number(context: RenderContext, out: Tokens) -> None:
    context.called += 1
    if context.citation_number:
        context.rendered += 1
        number = str(context.citation_number)
        out += (CITATION_NUMBER, number, CITATION_NUMBER.close, NUMBER_END)


def _counted(value: Callable[[RenderContext], int], written: NumberForm) -> Render:
    def render(context: RenderContext, out: Tokens) -> None:
        context.called += 1
        number = value(context)
        if number:
            context.rendered += 1
            out += (written.write(read_numbers(str(number))), NUMBER_END)

    return render


def compile_number(element: Element, scope: CompileScope) -> Render:
    variable, form = element.get("variable", ""), element.get("form", "numeric")
    attributes = {**scope.leaf_attributes(element)}
    case = attributes.pop("text-case", "")
    if variable == "locator":
        render = locator(scope, form, case)
    elif variable == "citation-number":
        render = (
            citation_number
            if form == "numeric"
            else _counted(
                lambda context: context.citation_number, number_form(variable, scope, form, case)
            )
        )
    elif variable == "first-reference-note-number":
        render = _counted(
            lambda context: context.cite.first_note_number,
            number_form(variable, scope, form, case),
        )
    else:
        render = numeric_field(variable, scope, form, case)
    return decorate(render, attributes, scope.english, is_leaf=True)


def _label_value(variable: str, context: RenderContext) -> str:
    match variable:
        case "locator":
            return context.cite.locator
        case "citation-number":
            return str(context.citation_number or "")
        case "first-reference-note-number":
            return str(context.cite.first_note_number or "")
    return context.fields.get(variable, "")


def compile_label(element: Element, scope: CompileScope) -> Render:
    variable, form, plural = (
        element.get("variable", ""),
        element.get("form", "long"),
        element.get("plural", "contextual"),
    )
    locale = scope.locale

    def render(context: RenderContext, out: Tokens) -> None:
        value = _label_value(variable, context)
        if not value or (context.suppressed and variable in context.suppressed):
            return
        name = context.cite.label if variable == "locator" else variable
        if plural == "contextual":
            numbers = read_numbers(value, locale)
            many = numbers.is_plural or (
                variable in _totals and numbers.is_numeric and numbers.first > 1
            )
        else:
            many = plural == "always"
        term = locale.term(name, form, many)
        if term is None and variable == "chapter-number":
            term = locale.term("chapter", form, many)
        if term:
            out.append(term.replace("'", "’"))

    return decorate(
        render,
        scope.leaf_attributes(element),
        always_english,
        is_leaf=True,
        language=locale.language,
    )

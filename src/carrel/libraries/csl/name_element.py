"""cs:names: lists of names with et al., labels, substitutes, and what was shown of them."""

import copy
import unicodedata
from collections.abc import Callable

from carrel.libraries.text.xml import Element

from .conditions import compile_condition
from .context import NameSet, RenderContext
from .name_values import PersonName, is_latin_like
from .person import (
    FULL,
    INITIALS,
    apply_name_format,
    base_level,
    read_list_format,
    read_literal_format,
    read_name_parts,
    read_options,
    render_name,
)
from .punctuation import SIGN_PAIRS
from .scope import LIMITS, CompileScope, Render, always_english, decorate, strip_periods
from .tokens import GLUE, GROUP_END, NAMES, PART_SIGNS, Tokens, plain

Compile = Callable[[Element, CompileScope], Render | None]


def compile_substitute(
    parent: Element, names: Element, scope: CompileScope, compile_element: Compile
) -> Render:
    """Render the first child that gives text; a cs:choose decides which of its own are tried."""
    renders = []
    for child in parent:
        if child.tag == "choose":
            renders.append(_choice(child, names, scope, compile_element))
            continue
        if child.tag == "names" and not [
            inner for inner in child if inner.tag in {"name", "label", "et-al", "substitute"}
        ]:
            compiled = compile_element(_inherit_name_parts(child, names), scope)
        else:
            compiled = compile_element(child, scope)
        if compiled is not None:
            renders.append(compiled)

    def try_each(context: RenderContext, out: Tokens) -> None:
        start = len(out)
        for render in renders:
            render(context, out)
            is_silent = context.suppress_names or context.substitution is not None
            if len(out) > start or (is_silent and context.names_text is not None):
                return

    return try_each


def _choice(
    choose: Element, names: Element, scope: CompileScope, compile_element: Compile
) -> Render:
    branches = [
        (
            compile_condition(branch) if branch.tag != "else" else None,
            compile_substitute(branch, names, scope, compile_element),
        )
        for branch in choose
        if branch.tag in {"if", "else-if", "else"}
    ]

    def choice(context: RenderContext, out: Tokens) -> None:
        for test, render in branches:
            if test is None or test(context):
                render(context, out)
                return

    return choice


def _inherit_name_parts(child: Element, parent: Element) -> Element:
    """A cs:names in cs:substitute without children takes name, et-al and label from its parent."""
    filled = copy.copy(child)
    filled.attrib = {**parent.attrib, "variable": child.get("variable", "")}
    for inner in parent:
        if inner.tag in {"name", "et-al", "label"}:
            filled.append(inner)
    return filled


class NamesElement:
    """One cs:names ready to render."""

    def __init__(self, element: Element, scope: CompileScope, compile_element: Compile) -> None:
        self.scope = scope
        self.strips = scope.strips
        self.is_direct = not scope.is_in_macro
        self.variables = element.get("variable", "").split()
        self.options = read_options(
            scope.inherited,
            element,
            scope.root,
            scope.locale.language,
            scope.name_parts,
            scope.forced,
        )
        children = [child.tag for child in element]
        label = element.find("label")
        self.label = label
        self.label_attributes = scope.leaf_attributes(label) if label is not None else {}
        self.label_first = label is not None and (
            "name" not in children or children.index("label") < children.index("name")
        )
        if self.label_first and "name" not in children:
            self.label_first = False
        self.labels: dict[str, Render] = {}
        substitute = element.find("substitute")
        self.substitutes: Render | None = None
        if substitute is not None:
            limits = {name: self.options.raw[name] for name in LIMITS if name in self.options.raw}
            with scope.substitute_for(read_name_parts(element), limits):
                self.substitutes = compile_substitute(substitute, element, scope, compile_element)
        self.and_term = self._and_term()
        # Before an institution only what holds for a whole area counts.
        self.precedes_institution = scope.inherited.get("delimiter-precedes-last", "contextual")
        sign = self.options.delimiter
        # A name's own suffix and the delimiter behind it are both kept.
        self.delimiter: Tokens = (
            [GLUE, sign]
            if sign[:1] in SIGN_PAIRS and (self.options.name.suffix.endswith(sign[:1]))
            else [sign]
        )
        self.et_al = scope.locale.term(self.options.et_al_term)
        self.et_al = self.options.et_al_term if self.et_al is None else self.et_al
        if scope.area == "sort":
            self.et_al = ""
        self.literal_look = read_literal_format(self.options)
        self.list_look = read_list_format(self.options)
        self.base = base_level(self.options)
        self.can_initialize = self.options.initialize_with is not None and self.options.initialize
        formatting = {key: value for key, value in element.attrib.items() if key != "delimiter"}
        self.formatted = decorate(self._render_found, formatting, scope.english)

    def _and_term(self) -> str:
        """With its spaces; scripts that set no words apart take none. Sort keys go without."""
        if self.scope.area == "sort" or self.options.join not in {"text", "symbol"}:
            return ""
        term = "&" if self.options.join == "symbol" else self.scope.locale.term("and") or "and"
        before = " " if _takes_space(term[0]) else ""
        return f"{before}{term}{' ' if _takes_space(_last_letter(term)) else ''}"

    def _find_names(self, context: RenderContext) -> list[tuple[str, list[PersonName]]]:
        return [
            (variable, names)
            for variable in self.variables
            if (names := context.names.get(variable))
            and not (context.suppressed and variable in context.suppressed)
        ]

    def render(self, context: RenderContext, out: Tokens) -> None:
        context.called += 1
        context.saw_names = True
        if self._find_names(context):
            (self._render_found if self.options.form == "count" else self.formatted)(context, out)
        else:
            start = len(out)
            self._substitute(context, out)
            context.has_silent_names |= self.is_direct and len(out) == start
            if len(out) == start and self.options.form == "count" and self.scope.area == "sort":
                context.rendered += 1
                out.append("0")

    def _render_found(self, context: RenderContext, out: Tokens) -> None:
        found = self._find_names(context)
        if self.options.form == "count":
            context.rendered += 1
            if context.trace is not None:
                context.trace.extend(variable for variable, _ in found)
            out.append(str(sum(self._shown(len(names), 0, context)[0] for _, names in found)))
            return
        found = self._merge_editor_translator(found)
        rendered: list[Tokens] = []
        for variable, names in found:
            tokens = self._one_role(variable, names, context)
            if tokens:
                rendered.append(tokens)
                if context.trace is not None:
                    context.trace.extend(variable.split())
        if rendered:
            context.rendered += 1
            for index, tokens in enumerate(rendered):
                if index and self.options.names_delimiter:
                    out.append(self.options.names_delimiter)
                out += tokens
            end = out[-1]
            if end.__class__ is str and end[-1:] in PART_SIGNS:
                out.append(GROUP_END)

    def _merge_editor_translator(
        self, found: list[tuple[str, list[PersonName]]]
    ) -> list[tuple[str, list[PersonName]]]:
        """Editors who are also translators are named once, where the locale has a term for it."""
        if (
            len(found) != 2
            or {found[0][0], found[1][0]} != {"editor", "translator"}
            or found[0][1] != found[1][1]
        ):
            return found
        if self.label is not None and not self.scope.locale.term(
            "editortranslator", self.label.get("form", "long")
        ):
            return found
        return [("editor translator", found[0][1])]

    def _substitute(self, context: RenderContext, out: Tokens) -> None:
        if self.substitutes is None:
            return
        inner: Tokens = []
        outer_trace = context.trace
        trace: list[str] = []
        context.trace = trace
        self.substitutes(context, inner)
        context.trace = outer_trace
        if not inner:
            return
        context.suppressed = (context.suppressed or set()) | set(trace)
        if outer_trace is not None:
            outer_trace.extend(trace)
        if context.names_text is None:
            self._note_text(inner, context, has_value=bool(trace))
            if context.suppress_names and trace:
                context.rendered += 1
                return
            if context.substitution is not None and trace:
                inner = [context.substitution.text]
        out += (NAMES, *inner, NAMES.close)

    def _note_text(self, tokens: Tokens, context: RenderContext, *, has_value: bool) -> None:
        text = plain(tokens)
        context.names_text = text if NAMES in tokens else ""
        context.substitute_text = text
        context.has_substitute = has_value
        if not context.name_sets and has_value:  # Words such as `Anonymous` name nobody.
            context.name_sets.append(NameSet(1, 1, [], [text]))

    def _shown(self, total: int, index: int, context: RenderContext) -> tuple[int, bool]:
        """How many names are shown, and whether the last one follows after a gap."""
        options = self.options
        least, first = options.et_al_min, options.et_al_use_first
        if context.is_subsequent and not context.in_bibliography:
            least, first = options.subsequent_min, options.subsequent_use_first
        counts = context.disambiguation.name_counts
        if total < least or total <= first:
            return total, False
        if options.et_al_use_last:
            # At least two names have to give way to the ellipsis.
            first = min(first, max(1, least - 2))
        if index < len(counts) and (self.scope.opens_givens or not context.in_bibliography):
            first = max(first, counts[index])
        if first >= total:
            return total, False
        if options.et_al_use_last and first + 1 >= total:
            return first, False
        return first, options.et_al_use_last

    def _level(self, index: int, place: int, name: PersonName, context: RenderContext) -> int:
        level = self.base
        if self.scope.area == "sort":
            return level
        if context.given_level is not None and not name.literal:
            level = max(level, context.given_level(name, place, self.base, self.can_initialize))
        givens = context.disambiguation.given_levels
        if index < len(givens) and place < len(givens[index]):
            level = max(level, givens[index][place])
        if (
            level == INITIALS
            and self.options.initialize_with is None
            and not self.scope.initials_only
        ):
            level = FULL
        return level

    def _one_role(self, variable: str, names: list[PersonName], context: RenderContext) -> Tokens:
        is_first = context.names_text is None
        index = len(context.name_sets)
        has_more = not context.et_al.isdisjoint(variable.split())
        tokens, names_text = self._list(names, index, context, has_more=has_more)
        if is_first:
            context.names_text = names_text
            if context.suppress_names:
                context.rendered += 1
                return []
        if context.substitution is not None and is_first:
            tokens = self._substitute_names(tokens, names, index, context, has_more=has_more)
        if not tokens:
            # Names that give way to nothing leave their label behind.
            return self._label(variable, len(names) + has_more, context) if is_first else []
        tokens = [NAMES, *(strip_periods(tokens) if self.strips else tokens), NAMES.close]
        if self.label is not None and self.scope.area != "sort":
            label = self._label(variable, len(names) + has_more, context)
            if label:
                tokens = [*label, *tokens] if self.label_first else [*tokens, *label]
        return tokens

    def _label(self, variable: str, count: int, context: RenderContext) -> Tokens:
        if self.label is None:
            return []
        plural = self.label.get("plural", "contextual")
        many = count > 1 if plural == "contextual" else plural == "always"
        form = self.label.get("form", "long")
        name = "editortranslator" if " " in variable else variable
        term = self.scope.locale.term(name, form, many)
        out: Tokens = []
        if term:
            dress = self.labels.get(term)
            if dress is None:
                dress = self.labels[term] = decorate(
                    _constant(term.replace("'", "’")),
                    self.label_attributes,
                    always_english,
                    language=self.scope.locale.language,
                )
            dress(context, out)
        return out

    def _people(self, names: list[PersonName], levels: list[int]) -> list[Tokens]:
        """As many names as there are levels."""
        is_all = self.options.sort_order == "all" or self.scope.area == "sort"
        is_first = self.options.sort_order == "first"
        return [
            self._person(name, is_all or (is_first and place == 0), level)
            for place, (name, level) in enumerate(zip(names, levels, strict=False))
        ]

    def _person(self, name: PersonName, inverted: bool, level: int) -> Tokens:
        tokens = render_name(name, self.options, inverted, level, self.scope.area == "sort")
        return apply_name_format(tokens, self.literal_look if name.literal else self.options.name)

    def _list(
        self, names: list[PersonName], index: int, context: RenderContext, *, has_more: bool
    ) -> tuple[Tokens, str]:
        total = len(names)
        if context.is_comparing:
            context.name_lists.append(names)
        shown, has_last = self._count_shown(names, index, context, has_more=has_more)
        levels = [self._level(index, place, names[place], context) for place in range(shown)]
        people = self._people(names, levels)
        context.name_sets.append(
            NameSet(
                total,
                shown,
                levels,
                [name.identity for name in names[:shown]] if context.in_bibliography else [],
            )
        )
        tokens = self._joined_list(
            people, names, index, context, has_last=has_last, has_more=has_more
        )
        return tokens, plain(tokens)

    def _count_shown(
        self, names: list[PersonName], index: int, context: RenderContext, *, has_more: bool
    ) -> tuple[int, bool]:
        """How many of these names are shown; a list that goes on counts as one longer."""
        shown, has_last = self._shown(len(names) + has_more, index, context)
        return min(shown, len(names)), has_last and not has_more

    def _joined_list(
        self,
        people: list[Tokens],
        names: list[PersonName],
        index: int,
        context: RenderContext,
        *,
        has_last: bool,
        has_more: bool,
    ) -> Tokens:
        options = self.options
        total, shown = len(names), len(people)
        if shown == total and not has_more:
            return self._and_list(people, total, bool(names[-1].literal))
        if not people:
            return []
        tokens: Tokens = list(people[0])
        for one in people[1:]:
            tokens += (*self.delimiter, *one)
        if has_last:
            inverted = options.sort_order == "all" or self.scope.area == "sort"
            last = self._person(
                names[-1], inverted, self._level(index, total - 1, names[-1], context)
            )
            return [*tokens, options.delimiter if shown > 1 else " ", "… ", *last]
        if not self.et_al:
            return apply_name_format(tokens, self.list_look)
        sign = (
            options.delimiter
            if self._precedes(options.precedes_et_al, shown >= 2, shown - 1)
            else " "
            if _takes_space(self.et_al[0])
            else ""
        )
        return apply_name_format(
            [*tokens, sign, *apply_name_format([self.et_al], options.et_al)], self.list_look
        )

    def _precedes(self, rule: str, contextual: bool, before: int) -> bool:
        if rule == "always":
            return True
        if rule == "never":
            return False
        if rule == "after-inverted-name":
            return self.options.sort_order == "all" or (
                self.options.sort_order == "first" and before == 0
            )
        return contextual

    def _and_list(self, people: list[Tokens], total: int, ends_in_institution: bool) -> Tokens:
        options = self.options
        tokens: Tokens = list(people[0])
        for place, one in enumerate(people[1:], 1):
            if place < total - 1 or not self.and_term:
                tokens += self.delimiter
            elif (total == 2 or self.and_term[0] == " ") and self._precedes(
                self.precedes_institution if ends_in_institution else options.precedes_last,
                total > 2,
                place - 1,
            ):
                tokens.append(options.delimiter)
                if options.delimiter != self.and_term:
                    tokens.append(self.and_term.lstrip())
            else:
                tokens.append(self.and_term)
            tokens += one
        return tokens

    def _substitute_names(
        self,
        tokens: Tokens,
        names: list[PersonName],
        index: int,
        context: RenderContext,
        *,
        has_more: bool,
    ) -> Tokens:
        """The list with names of the entry before replaced by the style's substitute."""
        substitution = context.substitution
        if substitution is None:
            return tokens
        if substitution.rule == "complete-all":
            return [substitution.text] if substitution.text else []
        shown, has_last = self._count_shown(names, index, context, has_more=has_more)
        people = self._people(
            names, [self._level(index, place, names[place], context) for place in range(shown)]
        )
        gone = min(substitution.count, len(people))
        if substitution.text:
            people[:gone] = [apply_name_format([substitution.text], self.options.name)] * gone
        elif gone == len(people):
            return []
        else:  # Those that repeat leave without a trace.
            people, names = people[gone:], names[gone:]
        return self._joined_list(
            people, names, index, context, has_last=has_last, has_more=has_more
        )


def _constant(text: str) -> Render:
    return lambda context, out: out.append(text)


def _last_letter(term: str) -> str:
    """The last sign of a term, without the marks set above and below it."""
    return next((sign for sign in reversed(term) if not unicodedata.combining(sign)), term[-1])


def _takes_space(sign: str) -> bool:
    """Whether a space parts this sign from a name (in Hindi, Armenian and Hebrew none does)."""
    if sign == "ו" or "\u0900" <= sign <= "\u097f" or "\u0530" <= sign <= "\u058f":
        return False
    return sign in {"&", "."} or (sign.isalpha() and is_latin_like(sign))


def compile_names(element: Element, scope: CompileScope, compile_element: Compile) -> Render:
    return NamesElement(element, scope, compile_element).render

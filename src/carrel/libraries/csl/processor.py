"""A bibliography and its citations: items in, entries and in-text citations out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from carrel.libraries.text.budget import current_budget

from .casing import capitalize_leading_term
from .catalogue import load_style
from .citation import CitationWriter, suffix_letters
from .context import (
    FIRST,
    NO_DISAMBIGUATION,
    SUBSEQUENT,
    Cite,
    Cluster,
    Disambiguation,
    GivenLevel,
    NameSet,
    NameSubstitution,
    RenderContext,
    set_positions,
)
from .disambiguation import ComparedCite, Disambiguator, GivenNames
from .errors import ItemNotFoundError, StyleBrokenError
from .formats import OutputName, TextRun, output_format
from .items import CitedItem, citation_label
from .locale import check_locale
from .name_values import PersonName
from .punctuation import resolve_punctuation, spell_foreign_quotes
from .rendered import RenderedText
from .sorting import SortKey, sort_by_keys
from .style import LEFT_MARGIN, Style, StyleLayout
from .tokens import Tokens


def entry_tokens(layout: StyleLayout, context: RenderContext) -> tuple[Tokens, NameSet | None]:
    """The entry, and the first names in it; nothing where the style leaves such works out."""
    if layout.options.get("second-field-align"):
        tokens = layout.render_aligned(context)
    else:
        tokens = capitalize_leading_term(layout.render(context))
    if not tokens:
        return [], None
    names = context.name_sets[0] if context.name_sets else None
    last = tokens[-1]
    if layout.suffix and last.__class__ is not str and last.kind == "display":  # type: ignore[union-attr]
        tokens.insert(len(tokens) - 1, layout.suffix)
    else:
        tokens.append(layout.suffix)
    fonts = layout.fonts
    # In the margin the prefix stands with the first field.
    tokens.insert(1 if tokens[0] is LEFT_MARGIN else 0, layout.prefix)
    tokens = [*reversed(fonts), *tokens, *(one.close for one in fonts)]
    return _free_spaces(tokens), names


def _free_spaces(tokens: Tokens) -> Tokens:
    """The entry with a space that would begin its first block or end its last outside of it."""
    tokens = [token for token in tokens if token]
    texts = [(place, token) for place, token in enumerate(tokens) if isinstance(token, str)]
    if not texts:
        return tokens
    last, end = texts[-1]
    if _is_block(tokens, last + 1) and end.endswith(" "):
        tokens[last] = end.rstrip(" ")
        tokens.append(" ")
    first, _ = texts[0]
    begin = tokens[first]
    if _is_block(tokens, first - 1) and isinstance(begin, str) and begin.startswith(" "):
        tokens[first] = begin.lstrip(" ")
        tokens.insert(0, " ")
    return tokens


def _is_block(tokens: Tokens, place: int) -> bool:
    """Whether the edge of a block is at this place, with no font between it and the text."""
    if not 0 <= place < len(tokens):
        return False
    token = tokens[place]
    return not isinstance(token, str) and token.kind == "display"


def name_substitution(
    before: NameSet | None, now: NameSet, text: str, rule: str
) -> NameSubstitution | None:
    """What stands for the names that the entry before has already shown; None where none repeat."""
    if before is None or not now.names or not before.names:
        return None
    if rule in {"complete-all", "complete-each"}:
        return NameSubstitution(text, rule, len(now.names)) if before.names == now.names else None
    count = 0
    for one, other in zip(before.names, now.names, strict=False):
        if one != other:
            break
        count += 1
        if rule == "partial-first":
            break
    return NameSubstitution(text, rule, count) if count else None


# Rendering an item takes 0.1 to 1 ms, as long as so many steps of a parser (text/budget).
_STEPS_PER_RENDERING = 50
_compared = Cite("", position=SUBSEQUENT)
_disambiguation_options = (
    "disambiguate-add-names",
    "disambiguate-add-givenname",
    "disambiguate-add-year-suffix",
)


@dataclass(frozen=True, slots=True)
class BibliographyEntry:
    """One line of a bibliography."""

    id: str
    text: str


class Processor:
    """Renders items in one style; they keep the order given until the style sorts them."""

    def __init__(
        self,
        style: Style,
        items: Iterable[Mapping[str, Any]],
        *,
        locale: str | None = None,
        output: OutputName = "text",
    ) -> None:
        self.style = style
        if locale is not None:
            check_locale(locale, style.source)
        self.compiled = style.compiled(locale)
        self.locale = self.compiled.locale
        self.format = output_format(output)
        self.quotes = self.locale.quotes()
        self.range_delimiter = "–"
        self._budget = current_budget()
        self.items: dict[str, CitedItem] = {}
        self.add_items(items)
        self.order: list[str] = []
        self.numbers: dict[str, int] = {}
        self.disambiguations: dict[str, Disambiguation] = {}
        self.given_names: GivenNames | None = None
        self._first_notes: dict[str, int] = {}
        self._cited_names: dict[str, list[list[PersonName]]] = {}
        self.citations = CitationWriter(self)
        distance = self.compiled.citation.options.get("near-note-distance", "5")
        self.near_note_distance = int(distance[:9]) if distance.isdecimal() else 5
        self.register(list(self.items))

    def register(self, ids: Sequence[str]) -> None:
        """Sort, number and disambiguate these items; the others are left out of account."""
        for item_id in ids:
            if item_id not in self.items:
                raise ItemNotFoundError(item_id)
        self._budget = current_budget()
        ids = list(dict.fromkeys(ids))
        self.numbers = {item_id: number for number, item_id in enumerate(ids, 1)}
        self.disambiguations = {}
        layout = self.compiled.bibliography
        keys = layout.sort if layout is not None else []
        try:
            self.order = sort_by_keys(ids, keys, self._sort_context)
            self._number_entries(keys)
            self._disambiguate_items()
        except RecursionError:
            raise self._too_deep() from None

    def _number_entries(self, keys: list[SortKey]) -> None:
        """Numbers follow the order of the entries, downwards where they are sorted downwards."""
        by_number = [key for key in keys if key.has_citation_number]
        order = self.order
        if by_number and by_number[0].is_descending:
            order = order[::-1]
        if keys:
            self.numbers = {item_id: number for number, item_id in enumerate(order, 1)}

    def _sort_context(self, item_id: str) -> RenderContext:
        self._budget.step(_STEPS_PER_RENDERING)
        context = RenderContext(
            self.items[item_id], disambiguation=self.disambiguations.get(item_id, NO_DISAMBIGUATION)
        )
        context.citation_number = self.numbers.get(item_id, 0)
        context.citation_label = self.label_of(context.item)
        context.in_bibliography = True
        return context

    def _disambiguate_items(self) -> None:
        layout = self.compiled.citation
        options = layout.options
        items = [self.items[item_id] for item_id in self.order]
        rule = options.get("givenname-disambiguation-rule", "by-cite")
        self.given_names = None
        self._cited_names = {}
        if self.compiled.has_disambiguate_test or any(
            options.get(name) == "true" for name in _disambiguation_options
        ):
            if options.get("disambiguate-add-givenname") == "true":
                self.given_names = self._read_given_names(rule, items)
            disambiguator = Disambiguator(
                options, self._ambiguous, self.compiled.has_disambiguate_test
            )
            self.disambiguations = disambiguator.run(items)

    def _read_given_names(self, rule: str, items: list[CitedItem]) -> GivenNames:
        known = GivenNames(rule)
        for item in items:
            self._ambiguous(item, NO_DISAMBIGUATION, False)
            if rule != "by-cite":
                for names in self._cited_names[item.id]:
                    known.add_list(names)
        return known

    def _given_level(self) -> GivenLevel | None:
        """What the rule asks of names in cites; where it looks at cites only, nothing."""
        known = self.given_names
        return None if known is None or known.rule == "by-cite" else known.level

    def _ambiguous(
        self, item: CitedItem, disambiguation: Disambiguation, with_givens: bool
    ) -> ComparedCite:
        self._budget.step(_STEPS_PER_RENDERING)
        note = self._first_notes.get(item.id, 0)
        cite = replace(_compared, first_note_number=note) if note else _compared
        context = RenderContext(item, cite, disambiguation)
        context.is_subsequent = True
        context.is_comparing = True
        context.given_level = self._given_level() if with_givens else None
        context.citation_label = self.label_of(item)
        tokens = self.compiled.citation.render(context)
        self._cited_names[item.id] = context.name_lists
        text = "".join([token for token in tokens if token.__class__ is str])
        sets = [(one.total, one.shown, one.levels) for one in context.name_sets]
        return ComparedCite(text, sets, context.tested_conditions)

    def label_of(self, item: CitedItem) -> str:
        """The citation label of an item; empty where the style asks for none."""
        return citation_label(item) if self.compiled.citation.scope.uses_label else ""

    def cite_context(self, cite: Cite) -> RenderContext:
        item = self.items.get(cite.id)
        if item is None:
            raise ItemNotFoundError(cite.id)
        self._budget.step(_STEPS_PER_RENDERING)
        disambiguation = self.disambiguations.get(cite.id, NO_DISAMBIGUATION)
        context = RenderContext(item, cite, disambiguation)
        context.citation_number = self.numbers.get(cite.id, 0)
        context.is_subsequent = cite.position != FIRST
        context.given_level = self._given_level()
        self._identify(context, disambiguation)
        return context

    def _identify(self, context: RenderContext, disambiguation: Disambiguation) -> None:
        context.citation_label = self.label_of(context.item)
        if disambiguation.year_suffix:
            context.year_suffix = suffix_letters(disambiguation.year_suffix)
        elif "year-suffix" in context.fields:
            context.year_suffix = context.fields["year-suffix"]

    def sorted_cites(self, cites: list[Cite]) -> list[Cite]:
        keys = self.compiled.citation.sort
        if self.citations.moves_groups:
            keys = [*keys, SortKey(self._cited_names_text, language=self.locale.language)]
        return sort_by_keys(cites, keys, self._cite_sort_context)

    def _cited_names_text(self, context: RenderContext) -> str:
        """The names of a cite: groups of cites that the style sorts alike go by them."""
        self.compiled.citation.render(context)
        return context.names_text or ""

    def _cite_sort_context(self, cite: Cite) -> RenderContext:
        """A cite as it sorts: where it stands in the text says nothing about its order."""
        context = self.cite_context(cite)
        context.is_subsequent = False
        return context

    def add_items(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Read items; one of a known id takes its place. They count once they are registered."""
        for source in items:
            item = CitedItem(source)
            if not item.id:
                item.id = f"item-{len(self.items) + 1}"
            self.items[item.id] = item

    def cite(self, clusters: Sequence[Cluster]) -> list[str]:
        """Each citation as text; positions such as ibid follow from the order of the clusters."""
        clusters = [self.in_order(cluster) for cluster in clusters]
        set_positions(
            [cluster for cluster in clusters if not cluster.has_positions], self.near_note_distance
        )
        self.note_first_cites(clusters)
        return [each.write(self.format.name) for each in self.render_citations(clusters)]

    def note_first_cites(self, clusters: Sequence[Cluster]) -> None:
        """Tell cites apart by the notes of their first ones, where the style names those."""
        if not self.compiled.names_first_notes:
            return
        found: dict[str, int] = {}
        for cluster in clusters:
            for cite in cluster.cites:
                found.setdefault(cite.id, cluster.note_number)
        if found != self._first_notes:
            self._first_notes = found
            self.disambiguations = {}
            self._disambiguate_items()

    def in_order(self, cluster: Cluster) -> Cluster:
        """The cluster with its cites as the style sorts them: a position follows from the order."""
        if cluster.is_unsorted or not self.compiled.citation.sort:
            return cluster
        self._budget = current_budget()
        try:
            cites = self.sorted_cites(self._before_sorting(cluster.cites))
        except RecursionError:
            raise self._too_deep() from None
        return replace(cluster, cites=cites, is_unsorted=True)

    def _before_sorting(self, cites: list[Cite]) -> list[Cite]:
        """Of cites that are equal the later first, where a style that collapses years descends."""
        area = self.compiled.citation
        is_turned = (
            area.options.get("collapse", "").startswith("year") and area.sort[0].is_descending
        )
        return cites[::-1] if is_turned else cites

    def render_citations(self, clusters: Sequence[Cluster]) -> list[RenderedText]:
        """Each citation in every format; the cites have their positions already."""
        self._budget = current_budget()
        try:
            return [self._resolve(self.citations.cluster(cluster)) for cluster in clusters]
        except RecursionError:
            raise self._too_deep() from None

    def render_entries(self) -> list[tuple[str, RenderedText]]:
        """The id and the entry of each item, in every format and in the style's order."""
        return [(item_id, self._resolve(tokens)) for item_id, tokens in self._entries()]

    def bibliography(self) -> list[BibliographyEntry]:
        """The entries in the style's order; empty where the style makes no bibliography."""
        name = self.format.name
        return [
            BibliographyEntry(item_id, entry.write(name))
            for item_id, entry in self.render_entries()
        ]

    def bibliography_runs(self) -> list[tuple[str, list[TextRun]]]:
        """The entries as stretches of text with their looks, for any other format."""
        return [(item_id, entry.runs) for item_id, entry in self.render_entries()]

    def _resolve(self, tokens: Tokens) -> RenderedText:
        tokens = spell_foreign_quotes(tokens, self.quotes)
        return RenderedText(
            resolve_punctuation(tokens, self.locale.punctuation_in_quote), self.quotes
        )

    def _entries(self) -> list[tuple[str, Tokens]]:
        layout = self.compiled.bibliography
        if layout is None:
            return []
        substitute = layout.options.get("subsequent-author-substitute")
        rule = layout.options.get("subsequent-author-substitute-rule", "complete-all")
        entries = []
        before: NameSet | None = None
        try:
            self._budget = current_budget()
            known = self.given_names.copy() if self.given_names is not None else None
            for item_id in self.order:
                self._budget.check_time()
                tokens, names = entry_tokens(layout, self._entry_context(item_id, known))
                if substitute is not None and names is not None:
                    substitution = name_substitution(before, names, substitute, rule)
                    if substitution is not None:
                        context = self._entry_context(item_id, known)
                        context.substitution = substitution
                        tokens, _ = entry_tokens(layout, context)
                before = names
                if tokens:
                    entries.append((item_id, tokens))
        except RecursionError:
            raise self._too_deep() from None
        return entries

    def _entry_context(self, item_id: str, known: GivenNames | None) -> RenderContext:
        disambiguation = self.disambiguations.get(item_id, NO_DISAMBIGUATION)
        context = RenderContext(self.items[item_id], disambiguation=disambiguation)
        context.in_bibliography = True
        if known is not None:
            if known.rule == "by-cite":
                known = GivenNames(known.rule)
                for names in self._cited_names.get(item_id, ()):
                    known.add_list(names)
            context.given_level = known.level_once_added
        context.citation_number = self.numbers.get(item_id, 0)
        self._identify(context, disambiguation)
        return context

    def _too_deep(self) -> StyleBrokenError:
        return StyleBrokenError(self.style.id, "its elements are nested without end.")


def render_bibliography(
    items: Iterable[Mapping[str, Any]],
    style: str | Path | Style = "apa",
    *,
    output: OutputName = "text",
    locale: str | None = None,
    folder: Path | None = None,
) -> list[BibliographyEntry]:
    """The bibliography of these items in one call."""
    loaded = style if isinstance(style, Style) else load_style(style, folder=folder)
    return Processor(loaded, items, locale=locale, output=output).bibliography()

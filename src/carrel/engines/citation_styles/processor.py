"""A bibliography and its citations: items in, entries and in-text citations out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .capital_term import with_capital_term
from .citation import CitationWriter, suffix_letters
from .context import NO_DISAMBIGUATION, SUBSEQUENT, Cite, Context, Disambiguation, NameSet, NameSubstitution
from .disambiguation import Disambiguator, GlobalNames
from .errors import ItemNotFoundError, StyleBrokenError
from .formats import FORMATS, OutputName, Run, structure, write
from .items import Item
from .label import citation_label
from .name_element import NamesElement
from .positions import Cluster, set_positions
from .punctuation import settle
from .sorting import ordered
from .style import SHIFTED, Layout, Style
from .tokens import NAMES, Tokens

_compared = Cite("", position=SUBSEQUENT)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a bibliography."""

    id: str
    text: str


class Processor:
    """Renders a set of items in one style. Items keep the order in which they are given until the style sorts them."""

    def __init__(
        self, style: Style, items: Iterable[Mapping[str, Any]], *, locale: str | None = None, output: OutputName = "text"
    ) -> None:
        self.style = style
        self.compiled = style.compiled(locale)
        self.locale = self.compiled.locale
        self.format = FORMATS[output]
        self.quotes = self.locale.quotes()
        self.range_delimiter = "–"
        self.items: dict[str, Item] = {}
        for source in items:
            item = Item(source)
            if not item.id:
                item.id = f"item-{len(self.items) + 1}"
            self.items[item.id] = item
        self.order: list[str] = []
        self.numbers: dict[str, int] = {}
        self.disambiguations: dict[str, Disambiguation] = {}
        self.citations = CitationWriter(self)
        self.near_note_distance = int(self.compiled.citation.options.get("near-note-distance", "5") or 5)
        self.register(list(self.items))

    # -- which items take part, in which order and with which numbers

    def register(self, ids: Sequence[str]) -> None:
        """Orders and numbers these items and tells them apart. Everything else is left out of account."""
        for id in ids:
            if id not in self.items:
                raise ItemNotFoundError(id)
        ids = list(dict.fromkeys(ids))
        self.numbers = {id: number for number, id in enumerate(ids, 1)}
        self.disambiguations = {}
        layout = self.compiled.bibliography
        keys = layout.sort if layout is not None else []
        self.order = ordered(ids, keys, self._sort_context)
        if keys and not keys[0].is_citation_number:
            self.numbers = {id: number for number, id in enumerate(self.order, 1)}
        self._tell_apart()

    def _sort_context(self, id: str) -> Context:
        context = Context(self.items[id], disambiguation=self.disambiguations.get(id, NO_DISAMBIGUATION))
        context.citation_number = self.numbers.get(id, 0)
        context.citation_label = self._label_of(context.item)
        context.in_bibliography = True
        return context

    def _tell_apart(self) -> None:
        layout = self.compiled.citation
        options = layout.options
        has_condition = any(test.get("disambiguate") for test in self.style.root.iter() if test.tag in {"if", "else-if"})
        adds_givens = options.get("disambiguate-add-givenname") == "true"
        rule = options.get("givenname-disambiguation-rule", "by-cite")
        layout.scope.given_level = None
        if adds_givens and rule != "by-cite":
            layout.scope.given_level = self._global_names(rule)
        wanted = ("disambiguate-add-names", "disambiguate-add-givenname", "disambiguate-add-year-suffix")
        if not has_condition and not any(options.get(name) == "true" for name in wanted):
            return
        disambiguator = Disambiguator(options, self._ambiguous, has_condition)
        self.disambiguations = disambiguator.run([self.items[id] for id in self.order])

    def _global_names(self, rule: str) -> Any:
        first = next(iter(self.style.root.iter("name")), None)
        del first
        options = self._citation_name_options()
        known = GlobalNames(rule, options)
        primary_only = rule.startswith("primary")
        primaries: set[Any] = set()
        for id in self.order:
            for names in self._cited_names(id):
                for place, name in enumerate(names):
                    if place == 0:
                        primaries.add(name)
                    if place == 0 or not primary_only:
                        known.add(name)
        return known.level if not primary_only else lambda name: known.level(name) if name in primaries else 0

    def _cited_names(self, id: str) -> list[list[Any]]:
        item = self.items[id]
        return [item.names[variable] for variable in ("author", "editor", "translator") if variable in item.names]

    def _citation_name_options(self) -> Any:
        from .name_options import read_options

        scope = self.compiled.citation.scope
        names = next(iter(self.style.root.find("citation").iter("names")), None)  # type: ignore[union-attr]
        if names is None:
            for text in self.style.root.find("citation").iter("text"):  # type: ignore[union-attr]
                macro = scope.macros.get(text.get("macro", ""))
                names = next(iter(macro.iter("names")), None) if macro is not None else None
                if names is not None:
                    break
        return read_options(scope.inherited, names, self.style.root, self.locale.language) if names is not None else None

    def _ambiguous(self, item: Item, disambiguation: Disambiguation, with_givens: bool) -> tuple[str, list[tuple[int, int, list[int]]]]:
        context = Context(item, _compared, disambiguation)
        context.is_subsequent = True
        context.is_comparing = True
        context.use_global_givens = with_givens
        context.citation_label = self._label_of(item)
        tokens = self.compiled.citation.render(context)
        text = "".join([token for token in tokens if token.__class__ is str])  # type: ignore[misc]
        return text, [(one.total, one.shown, one.levels) for one in context.name_sets]

    def _label_of(self, item: Item) -> str:
        return citation_label(item) if self.compiled.citation.scope.uses_label else ""

    # -- citations

    def cite_context(self, cite: Cite) -> Context:
        item = self.items.get(cite.id)
        if item is None:
            raise ItemNotFoundError(cite.id)
        disambiguation = self.disambiguations.get(cite.id, NO_DISAMBIGUATION)
        context = Context(item, cite, disambiguation)
        context.citation_number = self.numbers.get(cite.id, 0)
        context.is_subsequent = cite.position != "first"
        self._identify(context, disambiguation)
        return context

    def _identify(self, context: Context, disambiguation: Disambiguation) -> None:
        context.citation_label = self._label_of(context.item)
        if disambiguation.year_suffix:
            context.year_suffix = suffix_letters(disambiguation.year_suffix)
        elif "year-suffix" in context.fields:
            context.year_suffix = context.fields["year-suffix"]

    def sorted_cites(self, cites: list[Cite]) -> list[Cite]:
        return ordered(cites, self.compiled.citation.sort, self.cite_context)

    def cite(self, clusters: Sequence[Cluster]) -> list[str]:
        """Each citation as text, in the order of the document."""
        tracked = [cluster for cluster in clusters if not cluster.has_positions]
        set_positions(tracked, self.near_note_distance)
        return [self._finish(self.citations.cluster(cluster)) for cluster in clusters]

    def _finish(self, tokens: Tokens) -> str:
        return write(settle(tokens, self.locale.punctuation_in_quote), self.format, self.quotes)

    # -- bibliography

    def bibliography(self) -> list[Entry]:
        """The entries in the style's order; empty where the style makes no bibliography."""
        return [Entry(id, self._finish(tokens)) for id, tokens in self._entries()]

    def bibliography_runs(self) -> list[tuple[str, list[Run]]]:
        """The entries as text with its looks, for any other format."""
        return [(id, structure(settle(tokens, self.locale.punctuation_in_quote), self.quotes)) for id, tokens in self._entries()]

    def _entries(self) -> list[tuple[str, Tokens]]:
        layout = self.compiled.bibliography
        if layout is None:
            return []
        substitute = layout.options.get("subsequent-author-substitute")
        rule = layout.options.get("subsequent-author-substitute-rule", "complete-all")
        entries = []
        before: NameSet | None = None
        for id in self.order:
            tokens, names = self._entry(layout, id, None)
            if substitute is not None and names is not None:
                substitution = _substitution(before, names, substitute, rule)
                if substitution is not None:
                    tokens, _ = self._entry(layout, id, substitution)
            before = names
            if tokens:
                entries.append((id, tokens))
        return entries

    def _entry(self, layout: Layout, id: str, substitution: NameSubstitution | None) -> tuple[Tokens, NameSet | None]:
        disambiguation = self.disambiguations.get(id, NO_DISAMBIGUATION)
        context = Context(self.items[id], disambiguation=disambiguation)
        context.in_bibliography = True
        context.citation_number = self.numbers.get(id, 0)
        context.substitution = substitution
        self._identify(context, disambiguation)
        if layout.options.get("second-field-align"):
            tokens = layout.render_aligned(context)
        else:
            tokens = with_capital_term(layout.render(context))
        if not tokens:
            return [], None
        names = context.name_sets[0] if context.name_sets and _opens_with_names(tokens) else None
        if layout.suffix and tokens[-1].__class__ is not str and tokens[-1].kind == "display":  # type: ignore[union-attr]
            tokens.insert(len(tokens) - 1, layout.suffix)
        else:
            tokens.append(layout.suffix)
        fonts = layout.fonts
        return [layout.prefix, *reversed(fonts), *tokens, *(one.close for one in fonts)], names


def _opens_with_names(tokens: Tokens) -> bool:
    """Whether nothing but the margin comes before the names."""
    in_margin = False
    for token in tokens:
        if token is NAMES:
            return True
        if token is SHIFTED or token is SHIFTED.close:
            in_margin = token is SHIFTED
        elif token.__class__ is str and token and not in_margin:
            return False
    return False


def _substitution(before: NameSet | None, now: NameSet, text: str, rule: str) -> NameSubstitution | None:
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


__all__ = ["Cite", "Cluster", "Entry", "NamesElement", "Processor", "StyleBrokenError"]

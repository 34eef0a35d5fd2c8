"""Citations in the text: cites sorted, grouped, collapsed and joined with the right delimiters."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .capital_term import with_capital_term
from .context import Cite, Context
from .markup import read_markup
from .positions import Cluster
from .tokens import CITATION_NUMBER, NAMES, YEAR_SUFFIX, Tokens, plain

if TYPE_CHECKING:
    from .processor import Processor

# One word and a full stop may be an abbreviation; more than one is a sentence.
_sentence_end = re.compile(r"\s.*[.?!][”’\"')]*$", re.DOTALL)
NO_PRINTED_FORM = "[CSL STYLE ERROR: reference with no printed form.]"
_letter_first = re.compile(r"^[^\W_]|^[\[(&§“‘\"]")


@dataclass(slots=True)
class Rendered:
    """One cite as it came out, with what grouping and collapsing ask about it."""

    cite: Cite
    tokens: Tokens
    names: str | None
    year_suffix: str
    number: int
    has_locator: bool = False
    is_collapsed: bool = False
    before: str | None = None

    @property
    def is_bare(self) -> bool:
        return not (self.cite.prefix or self.cite.suffix or self.has_locator)


class CitationWriter:
    """Writes clusters for one processor."""

    def __init__(self, processor: "Processor") -> None:
        self.processor = processor
        self.layout = processor.compiled.citation
        options = self.layout.options
        self.collapse = options.get("collapse", "")
        self.group_delimiter = options.get("cite-group-delimiter", self.layout.delimiter if processor.style.is_note else ", ")
        self.groups = "cite-group-delimiter" in options or self.collapse in {"year", "year-suffix", "year-suffix-ranged"}
        self.year_suffix_delimiter = options.get("year-suffix-delimiter", options.get("cite-group-delimiter", self.layout.delimiter))
        self.after_collapse = options.get("after-collapse-delimiter", self.layout.delimiter)

    def cluster(self, cluster: Cluster) -> Tokens:
        cites = cluster.cites
        if self.layout.sort and not cluster.is_unsorted:
            cites = self.processor.sorted_cites(cites)
        rendered = [self._cite(cite, is_first=place == 0) for place, cite in enumerate(cites)]
        if self.groups:
            rendered = _grouped(rendered)
        if self.collapse == "citation-number":
            tokens = self._numbers(rendered)
        else:
            if self.collapse:
                self._collapse_names(rendered)
            tokens = self._join(rendered)
        layout = self.layout
        fonts = layout.fonts
        return [*reversed(fonts), layout.prefix, *tokens, layout.suffix, *(one.close for one in fonts)]

    def _cite(self, cite: Cite, *, without_names: bool = False, is_first: bool = False) -> Rendered:
        context = self.processor.cite_context(cite)
        context.suppress_names = without_names or cite.suppress_author
        tokens = self.layout.render(context)
        if cite.author_only:
            tokens = _only_names(tokens)
        if is_first and not plain(tokens) and not cite.author_only and not cite.suppress_author:
            tokens = [NO_PRINTED_FORM]
        if self.processor.style.is_note:
            tokens = _capitalized(tokens, cite, is_first)
        tokens = _with_affixes(tokens, cite)
        return Rendered(cite, tokens, context.names_text, context.year_suffix, context.citation_number, context.has_locator)

    def _collapse_names(self, rendered: list[Rendered]) -> None:
        """Leaves out names that the cite before has shown; for year suffixes also the year."""
        for place in range(1, len(rendered)):
            one, before = rendered[place], rendered[place - 1]
            if not one.names or one.names != before.names or one.cite.prefix or before.cite.suffix:
                continue
            short = self._cite(one.cite, without_names=True)
            one.is_collapsed = True
            one.before = self.group_delimiter
            head = before if before.is_collapsed else self._cite(before.cite, without_names=True)
            whole = short.tokens
            if self.collapse.startswith("year-suffix") and one.is_bare and before.is_bare and one.year_suffix and before.year_suffix:
                if _without_suffix(self._cite(before.cite, without_names=True).tokens) == _without_suffix(short.tokens):
                    one.before = self.year_suffix_delimiter
                    one.tokens = [YEAR_SUFFIX, one.year_suffix, YEAR_SUFFIX.close]
                    one.tokens = _suffix_only(short.tokens)
                    continue
            del head
            one.tokens = whole
        if self.collapse == "year-suffix-ranged":
            self._range_suffixes(rendered)

    def _range_suffixes(self, rendered: list[Rendered]) -> None:
        place = 0
        while place < len(rendered):
            end = place
            while end + 1 < len(rendered) and self._follows(rendered[end], rendered[end + 1]):
                end += 1
            if end - place >= 2:
                rendered[end].before = self.processor.range_delimiter
                del rendered[place + 1 : end]
                end = place + 1
            place = end + 1

    def _follows(self, one: Rendered, other: Rendered) -> bool:
        if not other.is_collapsed or other.before != self.year_suffix_delimiter or len(plain(other.tokens)) > 3:
            return False
        return bool(one.year_suffix) and suffix_number(other.year_suffix) == suffix_number(one.year_suffix) + 1

    def _join(self, rendered: list[Rendered]) -> Tokens:
        out: Tokens = []
        previous: Rendered | None = None
        for place, one in enumerate(rendered):
            if not one.tokens:
                continue
            if out:
                following = one.before
                if following is None:
                    if previous is not None and previous.is_collapsed:
                        following = self.after_collapse
                    elif self.groups and not self.collapse and previous is not None and one.names and one.names == previous.names:
                        following = self.group_delimiter
                    else:
                        following = self.layout.delimiter
                if not one.cite.prefix.lstrip().startswith((",", ".", ";", ":")) or one.is_collapsed:
                    out.append(following)
                elif not one.cite.prefix.startswith(" "):
                    pass
            out += one.tokens
            previous = one
            del place
        return out

    def _numbers(self, rendered: list[Rendered]) -> Tokens:
        out: Tokens = []
        place = 0
        collapsed_before = False
        while place < len(rendered):
            end = place
            while end + 1 < len(rendered) and self._is_next(rendered[end], rendered[end + 1]):
                end += 1
            if out:
                out.append(self.after_collapse if collapsed_before else self.layout.delimiter)
            collapsed_before = False
            if end - place >= 2:
                out += rendered[place].tokens
                out.append(self.processor.range_delimiter)
                out += rendered[end].tokens
                collapsed_before = True
                place = end + 1
                continue
            out += rendered[place].tokens
            place += 1
        return out

    @staticmethod
    def _is_next(one: Rendered, other: Rendered) -> bool:
        return (
            one.is_bare and other.is_bare and 0 < one.number == other.number - 1
            and CITATION_NUMBER in one.tokens and CITATION_NUMBER in other.tokens
        )  # fmt: skip


def _capitalized(tokens: Tokens, cite: Cite, is_first: bool) -> Tokens:
    """In notes, a term that opens the citation, or a sentence after the cite's own prefix, starts with a capital."""
    prefix = plain(read_markup(cite.prefix)).strip() if cite.prefix else ""
    if not (_sentence_end.search(prefix) if prefix else is_first):
        return tokens
    return with_capital_term(tokens)


def _grouped(rendered: list[Rendered]) -> list[Rendered]:
    """Cites with the same names brought together, at the place of the first."""
    places: dict[str, list[Rendered]] = {}
    order: list[list[Rendered]] = []
    for one in rendered:
        if one.names and one.names in places:
            places[one.names].append(one)
            continue
        group = [one]
        order.append(group)
        if one.names:
            places[one.names] = group
    return [one for group in order for one in group]


def _with_affixes(tokens: Tokens, cite: Cite) -> Tokens:
    if not tokens:
        return tokens
    if cite.prefix:
        prefix = read_markup(cite.prefix)
        end = plain(prefix)[-1:]
        if end and not end.isspace() and (end.isalnum() or end in ".,;:)]»”") :
            prefix.append(" ")
        tokens = [*prefix, *tokens]
    if cite.suffix:
        suffix = read_markup(cite.suffix)
        if _letter_first.match(cite.suffix):
            suffix.insert(0, " ")
        tokens = [*tokens, *suffix]
    return tokens


def _only_names(tokens: Tokens) -> Tokens:
    if NAMES not in tokens:
        return []
    start = tokens.index(NAMES)
    return tokens[start : tokens.index(NAMES.close, start) + 1]


def _without_suffix(tokens: Tokens) -> str:
    out = []
    inside = False
    for token in tokens:
        if token is YEAR_SUFFIX:
            inside = True
        elif token is YEAR_SUFFIX.close:
            inside = False
        elif not inside and token.__class__ is str:
            out.append(token)
    return "".join(out)  # type: ignore[arg-type]


def _suffix_only(tokens: Tokens) -> Tokens:
    start = tokens.index(YEAR_SUFFIX)
    return tokens[start : tokens.index(YEAR_SUFFIX.close) + 1]


def suffix_letters(number: int) -> str:
    """1 is a, 26 is z, 27 is aa."""
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters


def suffix_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("a") + 1
    return number


def new_context(processor: "Processor", cite: Cite) -> Context:
    return processor.cite_context(cite)

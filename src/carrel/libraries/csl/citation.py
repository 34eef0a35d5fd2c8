"""Citations in the text: cites sorted, grouped, collapsed and joined with the right delimiters."""

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from .casing import capitalize_leading_term
from .context import Cite, Cluster
from .punctuation import SIGN_PAIRS
from .tokens import CITATION_NUMBER, GLUE, NAMES, YEAR_SUFFIX, Tokens, plain, read_markup

if TYPE_CHECKING:
    from .processor import Processor

NO_PRINTED_FORM = "[CSL STYLE ERROR: reference with no printed form.]"
# One word and a full stop may be an abbreviation; more than one is a sentence.
_sentence_end = re.compile(r"\s.*[.?!][”’\"')]*$", re.DOTALL)
_letter_first = re.compile(r"^[^\W_]|^[\[(&§“‘\"]")


@dataclass(slots=True)
class RenderedCite:
    """One cite as it came out, with what grouping and collapsing ask about it."""

    cite: Cite
    tokens: Tokens
    names: str | None
    year_suffix: str
    number: int
    has_locator: bool = False
    is_collapsed: bool = False
    is_suffix: bool = False
    before: str | None = None

    @property
    def is_bare(self) -> bool:
        return not (self.cite.prefix or self.cite.suffix or self.has_locator)


class CitationWriter:
    """Writes clusters for one processor."""

    def __init__(self, processor: "Processor") -> None:
        self.processor = processor
        self.layout = processor.compiled.citation
        options, delimiter = self.layout.options, self.layout.delimiter
        self.collapse = options.get("collapse", "")
        self.after_collapse = options.get("after-collapse-delimiter", delimiter)
        is_plain = not processor.style.is_note and "after-collapse-delimiter" not in options
        self.group_delimiter = options.get("cite-group-delimiter", ", " if is_plain else delimiter)
        self.year_suffix_delimiter = options.get(
            "cite-group-delimiter", options.get("year-suffix-delimiter", delimiter)
        )
        self.drops_years = (
            self.collapse.startswith("year-suffix")
            and options.get("disambiguate-add-year-suffix") == "true"
        )
        self.groups = "cite-group-delimiter" in options or self.collapse.startswith("year")

    def cluster(self, cluster: Cluster) -> Tokens:
        """One citation; `composite` puts the names into the sentence and the rest after them."""
        if cluster.mode == "composite" and cluster.cites:
            first = cluster.cites[0]
            names = self._cite(
                replace(first, author_only=True, prefix="", suffix="", locator="")
            ).tokens
            rest = self._cluster(
                replace(cluster, cites=[replace(first, suppress_author=True), *cluster.cites[1:]])
            )
            infix = read_markup(cluster.infix) if cluster.infix else []
            between: Tokens = (
                [" ", *infix] if infix and not cluster.infix.startswith(("’", "'", ",")) else infix
            )
            return [*names, *between, " ", *rest]
        if cluster.mode == "author-only" and cluster.cites:
            return self._cite(replace(cluster.cites[0], author_only=True)).tokens
        if cluster.mode == "suppress-author" and cluster.cites:
            cluster = replace(
                cluster, cites=[replace(cluster.cites[0], suppress_author=True), *cluster.cites[1:]]
            )
        return self._cluster(cluster)

    def _cluster(self, cluster: Cluster) -> Tokens:
        cites = cluster.cites
        if self.layout.sort and not cluster.is_unsorted:
            cites = self.processor.sorted_cites(cites)
        rendered = [self._cite(cite, is_first=place == 0) for place, cite in enumerate(cites)]
        if self.groups and not cluster.has_positions:
            rendered = _group_cites(rendered)
        if self.collapse == "citation-number":
            tokens = self._numbers(rendered)
        else:
            if self.collapse:
                self._collapse(rendered)
            tokens = self._join(rendered)
        layout = self.layout
        fonts = layout.fonts
        return [
            *reversed(fonts),
            layout.prefix,
            *tokens,
            layout.suffix,
            *(one.close for one in fonts),
        ]

    def _cite(
        self,
        cite: Cite,
        *,
        without_names: bool = False,
        without_dates: bool = False,
        is_first: bool = False,
    ) -> RenderedCite:
        context = self.processor.cite_context(cite)
        context.suppress_names = without_names or cite.suppress_author
        context.suppress_dates = without_dates
        tokens = self.layout.render(context)
        if cite.author_only:
            tokens = _only_names(tokens)
        if not plain(tokens) and not cite.author_only:
            if cite.prefix or cite.suffix:
                tokens = [""]  # The author's own words stand alone.
            elif is_first and not cite.suppress_author:
                tokens = [NO_PRINTED_FORM]
        is_opening = not (cite.suppress_author and context.saw_names) or tokens[:1] == [NAMES]
        if self.processor.style.is_note and is_opening:
            tokens = _capitalize_in_note(tokens, cite, is_first)
        tokens = _with_affixes(tokens, cite)
        return RenderedCite(
            cite,
            tokens,
            context.names_text,
            context.year_suffix,
            context.citation_number,
            context.has_locator,
        )

    def _collapse(self, rendered: list[RenderedCite]) -> None:
        """Drop names that the cite before has, and the year too where only its letter differs."""
        for before, one in pairwise(rendered):
            if not one.names or one.names != before.names:
                continue
            one.is_collapsed = True
            one.before = (
                self.after_collapse
                if before.has_locator and "after-collapse-delimiter" in self.layout.options
                else self.group_delimiter
            )
            one.tokens = self._cite(one.cite, without_names=True).tokens
            if self._repeats_year(before, one):
                one.tokens = self._cite(one.cite, without_names=True, without_dates=True).tokens
                continue
            if (
                self.collapse == "year"
                or not (one.year_suffix and before.year_suffix)
                or YEAR_SUFFIX not in one.tokens
            ):
                continue
            if self._year_of(before.cite) == self._year_of(one.cite):
                one.is_suffix = True
                if not (before.cite.suffix or one.cite.prefix or one.has_locator):
                    one.before = self.year_suffix_delimiter
                bare = _suffix_only(one.tokens, keep_rest=one.has_locator)
                one.tokens = (
                    _with_affixes(bare, one.cite)
                    if one.is_bare
                    else _with_affixes(bare, Cite("", prefix=one.cite.prefix))
                )
        if self.collapse == "year-suffix-ranged":
            self._range_suffixes(rendered)

    def _repeats_year(self, before: RenderedCite, one: RenderedCite) -> bool:
        """Whether a cite tells nothing that the one before does not, but its locator."""
        return (
            self.drops_years
            and before.cite.id == one.cite.id
            and not (one.cite.prefix or one.cite.suffix or one.year_suffix)
        )

    def _year_of(self, cite: Cite) -> str:
        """What a cite says besides its names, its locator and the letter after its year."""
        return _without_suffix(
            self._cite(replace(cite, locator="", prefix="", suffix=""), without_names=True).tokens
        )

    def _range_suffixes(self, rendered: list[RenderedCite]) -> None:
        place = 0
        while place < len(rendered):
            end = place
            while end + 1 < len(rendered) and _follows(rendered[end], rendered[end + 1]):
                end += 1
            if end - place >= 2:
                rendered[end].before = self.processor.range_delimiter
                del rendered[place + 1 : end]
                end = place + 1
            place = end + 1

    def _join(self, rendered: list[RenderedCite]) -> Tokens:
        out: Tokens = []
        previous: RenderedCite | None = None
        is_always_after = self.collapse in {"year", "year-suffix-ranged"}
        for one in rendered:
            if not one.tokens:
                continue
            if previous is not None and not one.cite.prefix.lstrip().startswith(
                (",", ".", ";", ":")
            ):
                if one.before is not None:
                    delimiter = one.before
                elif (
                    self.groups and not self.collapse and one.names and one.names == previous.names
                ):
                    delimiter = self.group_delimiter
                elif is_always_after or previous.is_collapsed:
                    delimiter = self.after_collapse
                else:
                    delimiter = self.layout.delimiter
                out += (_after_suffix(delimiter, previous.cite), GLUE)
            out += one.tokens
            previous = one
        return out

    def _numbers(self, rendered: list[RenderedCite]) -> Tokens:
        out: Tokens = []
        place = 0
        collapsed_before = False
        while place < len(rendered):
            end = place
            while end + 1 < len(rendered) and self._is_next(rendered[end], rendered[end + 1]):
                end += 1
            if out:
                delimiter = self.after_collapse if collapsed_before else self.layout.delimiter
                out.append(_after_suffix(delimiter, rendered[place - 1].cite))
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
    def _is_next(one: RenderedCite, other: RenderedCite) -> bool:
        return (
            not (one.cite.suffix or one.has_locator)
            and other.is_bare
            and 0 < one.number == other.number - 1
            and CITATION_NUMBER in one.tokens
            and CITATION_NUMBER in other.tokens
        )


def _after_suffix(delimiter: str, before: Cite) -> str:
    """The delimiter behind a cite whose own suffix may end with a sign that parts the two."""
    if before.suffix[-1:] in {".", ","} and delimiter[:1] in SIGN_PAIRS:
        return delimiter[1:]
    return delimiter


def _capitalize_in_note(tokens: Tokens, cite: Cite, is_first: bool) -> Tokens:
    """In notes, a term that opens the citation or a sentence takes a capital."""
    prefix = plain(read_markup(cite.prefix)).strip() if cite.prefix else ""
    if not (_sentence_end.search(prefix) if prefix else is_first):
        return tokens
    return capitalize_leading_term(tokens)


def _group_cites(rendered: list[RenderedCite]) -> list[RenderedCite]:
    """Cites with the same names brought together, at the place of the first."""
    places: dict[str, list[RenderedCite]] = {}
    order: list[list[RenderedCite]] = []
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
        if end and not end.isspace() and (end.isalnum() or end in ".,;:)]»”"):
            prefix.append(" ")
        tokens = [*prefix, *tokens]
    if cite.suffix:
        suffix = read_markup(cite.suffix)
        if _letter_first.match(cite.suffix):
            suffix.insert(0, " ")
        elif cite.suffix[0] in SIGN_PAIRS:
            suffix.insert(0, GLUE)
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
    return "".join(out)


def _suffix_only(tokens: Tokens, *, keep_rest: bool) -> Tokens:
    start = tokens.index(YEAR_SUFFIX)
    return tokens[start:] if keep_rest else tokens[start : tokens.index(YEAR_SUFFIX.close) + 1]


def _follows(one: RenderedCite, other: RenderedCite) -> bool:
    if not other.is_suffix or not one.is_bare or not other.is_bare:
        return False
    return suffix_number(other.year_suffix) == suffix_number(one.year_suffix) + 1


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

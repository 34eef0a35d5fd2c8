"""Citations in the text: cites sorted, grouped, collapsed and joined with the right delimiters."""

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from .casing import capitalize_leading_term
from .context import Cite, Cluster
from .punctuation import SIGN_PAIRS
from .tokens import (
    CITATION_NUMBER,
    GLUE,
    NAMES,
    NUMBER_END,
    YEAR_SUFFIX,
    Mark,
    Tokens,
    plain,
    read_markup,
)

if TYPE_CHECKING:
    from .processor import Processor

NO_PRINTED_FORM = "[CSL STYLE ERROR: reference with no printed form.]"
# What a citation says that leaves out its author and has nothing else to say.
NOTHING_BUT_NAMES = "[NO_PRINTED_FORM]"
# One word and a full stop may be an abbreviation; more than one is a sentence.
_sentence_end = re.compile(r"\s.*[.?!][”’\"')]*$", re.DOTALL)
_affix_signs = " ()[]{}<>.,:;-–—/~"
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
    group: str = ""
    is_nameless: bool = False
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
        self.nameless_delimiter = ", " if is_plain else delimiter
        self.group_delimiter = options.get("cite-group-delimiter", self.nameless_delimiter)
        self.year_suffix_delimiter = options.get(
            "cite-group-delimiter", options.get("year-suffix-delimiter", delimiter)
        )
        self.drops_years = (
            self.collapse.startswith("year-suffix")
            and options.get("disambiguate-add-year-suffix") == "true"
        )
        self.sets_off_locators = "after-collapse-delimiter" in options
        self.groups = "cite-group-delimiter" in options or self.collapse.startswith("year")
        # Notes are only brought together where a style says with which delimiter.
        self.moves_groups = "cite-group-delimiter" in options or (
            self.groups and not processor.style.is_note
        )

    def cluster(self, cluster: Cluster) -> Tokens:
        """One citation; `composite` puts the names into the sentence and the rest after them.

        A note stands apart from the sentence that has the names, so it is written in full.
        """
        cluster = self.processor.in_order(cluster)
        if not cluster.cites:
            return self._cluster(cluster)
        first, others = cluster.cites[0], cluster.cites[1:]
        alone = next((cite for cite in cluster.cites if cite.author_only), None)
        if cluster.mode == "author-only" or (alone is not None and cluster.mode != "composite"):
            return self._cite(replace(alone or first, author_only=True)).tokens
        rest = cluster
        if cluster.mode in {"composite", "suppress-author"} and not self.processor.style.is_note:
            rest = replace(cluster, cites=[replace(first, suppress_author=True), *others])
        if cluster.mode != "composite":
            return self._cluster(rest)
        names = self._cite(
            replace(first, author_only=True, prefix="", suffix="", locator="")
        ).tokens
        infix = read_markup(cluster.infix) if cluster.infix else []
        between: Tokens = (
            [" ", *infix] if infix and not cluster.infix.startswith(("’", "'", ",")) else infix
        )
        return [*names, *between, " ", *self._cluster(rest)]

    def _cluster(self, cluster: Cluster) -> Tokens:
        cites = cluster.cites
        rendered = [self._cite(cite, is_first=place == 0) for place, cite in enumerate(cites)]
        if cites and not any(one.tokens for one in rendered):
            if cites[-1].suppress_author:
                return [NOTHING_BUT_NAMES]
            rendered[-1].tokens = [NO_PRINTED_FORM]
        if self.moves_groups and not cluster.has_positions:
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
        keeps_letter: bool = False,
        is_first: bool = False,
    ) -> RenderedCite:
        context = self.processor.cite_context(cite)
        context.suppress_names = without_names or cite.suppress_author
        context.suppress_dates = without_dates
        context.keeps_letter = keeps_letter
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
            context.names_text or context.substitute_text,
            is_nameless=not context.names_text and not context.has_substitute,
        )

    def _collapse(self, rendered: list[RenderedCite]) -> None:
        """Drop names that the cite before has, and the year too where only its letter differs."""
        for before, one in pairwise(rendered):
            if self._are_nameless(before, one):
                one.is_collapsed = True
                one.before = self.nameless_delimiter
                if one.group:
                    continue  # Words such as `Anonymous` are repeated.
            elif not one.names or one.names != before.names:
                continue
            else:
                one.is_collapsed = True
                one.before = (
                    self.after_collapse
                    if before.cite.locator and self.sets_off_locators
                    else self.group_delimiter
                )
            one.tokens = self._cite(one.cite, without_names=True).tokens
            if self._repeats_year(before, one):
                one.tokens = self._cite(one.cite, without_names=True, without_dates=True).tokens
                if _is_set_off_number(one.tokens) and before.has_locator:
                    one.before = ""
                continue
            if (
                self.collapse == "year"
                or not (one.year_suffix and before.year_suffix)
                or YEAR_SUFFIX not in one.tokens
            ):
                continue
            if self._year_of(before.cite) == self._year_of(one.cite):
                one.is_suffix = True
                if one.is_bare and not before.cite.suffix:
                    one.before = self.year_suffix_delimiter
                one.tokens = self._letter_alone(one)
        if self.collapse == "year-suffix-ranged":
            self._range_suffixes(rendered)

    def _are_nameless(self, before: RenderedCite, one: RenderedCite) -> bool:
        """Whether two cites have the same words for their names, or their dates alone."""
        if not (one.is_nameless and before.is_nameless and one.group == before.group):
            return False
        if one.group:
            return True
        bare = replace(one.cite, prefix="", suffix="", locator="")
        rest = plain(self._cite(bare, without_names=True, without_dates=True).tokens)
        label = self.processor.label_of(self.processor.items[one.cite.id])
        return not (rest.replace(label, "") if label else rest).strip(_affix_signs)

    def _letter_alone(self, one: RenderedCite) -> Tokens:
        """A cite without its names and its year: the letter with its affixes, and its locator."""
        bare = replace(one.cite, prefix="", suffix="", locator="")
        alone = self._cite(bare, without_names=True, without_dates=True, keeps_letter=True).tokens
        if _without_suffix(alone).strip(_affix_signs):
            # More than the letter: words in place of a year, a title.
            letter = _suffix_only(one.tokens, keep_rest=one.has_locator)
            # What follows the letter holds the suffix already.
            kept = replace(one.cite, suffix="") if one.has_locator else one.cite
            return _with_affixes(letter, kept)
        return self._cite(
            one.cite, without_names=True, without_dates=True, keeps_letter=True
        ).tokens

    def _repeats_year(self, before: RenderedCite, one: RenderedCite) -> bool:
        """Whether a cite tells nothing that the one before does not, but its locator."""
        date = self.processor.items[one.cite.id].dates.get("issued")
        return (
            self.drops_years
            and before.cite.id == one.cite.id
            and not (one.cite.prefix or one.cite.suffix or one.year_suffix)
            and not (date is not None and date.literal)
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
                if one.is_collapsed and previous is not None:
                    previous.is_collapsed = True
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
                elif (
                    is_always_after
                    or previous.is_collapsed
                    or (self.collapse and previous.cite.locator and self.sets_off_locators)
                ):
                    delimiter = self.after_collapse
                else:
                    delimiter = self.layout.delimiter
                out += (_after_suffix(delimiter, previous.cite), GLUE)
            out += one.tokens
            previous = one
        return out

    def _numbers(self, rendered: list[RenderedCite]) -> Tokens:
        """Numbers with ranges of them; a locator is set off from the number after it."""
        rendered = [one for one in rendered if one.tokens]
        out: Tokens = []
        place = 0
        while place < len(rendered):
            end = place
            while end + 1 < len(rendered) and self._is_next(rendered[end], rendered[end + 1]):
                end += 1
            if out:
                before = rendered[place - 1].cite
                delimiter = self.after_collapse if before.locator else self.layout.delimiter
                out.append(_after_suffix(delimiter, before))
            out += rendered[place].tokens
            if end - place >= 2:
                out.append(self.processor.range_delimiter)
                out += rendered[end].tokens
                place = end
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


def _is_set_off_number(tokens: Tokens) -> bool:
    """Whether a number is all that is said, behind a sign that sets it off from one before it."""
    texts = [token for token in tokens if token.__class__ is str and token]
    return tokens[-1:] == [NUMBER_END] and len(texts) == 2 and texts[0][0] in SIGN_PAIRS


def _after_suffix(delimiter: str, before: Cite) -> str:
    """The delimiter behind a cite whose own suffix may end with a sign that parts the two."""
    end = before.suffix[-1:]
    if (end in {".", ","} and delimiter[:1] in SIGN_PAIRS) or (end, delimiter[:1]) == (";", ","):
        return delimiter[1:]
    return delimiter


def _capitalize_in_note(tokens: Tokens, cite: Cite, is_first: bool) -> Tokens:
    """In notes, a term that opens the citation or a sentence takes a capital."""
    prefix = plain(read_markup(cite.prefix)).strip() if cite.prefix else ""
    if not (_sentence_end.search(prefix) if prefix else is_first):
        return tokens
    return capitalize_leading_term(tokens)


def _group_cites(rendered: list[RenderedCite]) -> list[RenderedCite]:
    """Cites with the same names, or what stands for them, at the place of the first."""
    groups: dict[str, list[RenderedCite]] = {}
    order: list[list[RenderedCite]] = []
    for one in rendered:
        if one.group and one.group in groups:
            groups[one.group].append(one)
            continue
        group = [one]
        order.append(group)
        if one.group:
            groups[one.group] = group
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
    start = end = tokens.index(NAMES)
    depth = 1  # Names that stand in for others are inside of the place of those.
    while depth:
        end += 1
        depth += (tokens[end] is NAMES) - (tokens[end] is NAMES.close)
    return tokens[start : end + 1]


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
    """The letter of a year, with what follows it or alone, in the fonts that it stands in."""
    start = tokens.index(YEAR_SUFFIX)
    opened: list[Mark] = []
    for token in tokens[:start]:
        if not isinstance(token, Mark) or token.kind == "part":
            continue
        if token.is_open:
            opened.append(token)
        elif opened and opened[-1].close is token:
            opened.pop()
    if keep_rest:
        return [*opened, *tokens[start:]]
    end = tokens.index(YEAR_SUFFIX.close) + 1
    return [*opened, *tokens[start:end], *(one.close for one in reversed(opened))]


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

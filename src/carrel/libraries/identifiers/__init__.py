"""Identifiers of works: DOI, PubMed, PubMed Central, arXiv and ISBN."""

import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, unquote

_DOI_PREFIX = re.compile(
    r"^(?:(?:https?://)?(?:dx\.|www\.)?doi\.org/|info:doi/|urn:doi:|doi\s*[:=]?\s*)", re.IGNORECASE
)
# Pages of publishers name the DOI in the path or as a parameter: ?id=10.1371/journal.pone.0046493.
_DOI_PROXY = re.compile(
    r"^https?://[^/\s]+/(?:.*?/|.*?[?&](?:id|doi)=)?(?=10\.\d{4,9}(?:/|%2F))", re.IGNORECASE
)
_DOI_RESOLVER = re.compile(r"^https?://(?:dx\.|www\.)?doi\.org/", re.IGNORECASE)
# What a page's address adds to the DOI: a view of the article, and bioRxiv's version before it.
_PAGE_TAIL = re.compile(
    r"(?:/(?:full|fulltext|full-text|full\.pdf|abstract|summary|references|meta|html|e?pdf)|\.pdf)/?$",
    re.IGNORECASE,
)
_BIORXIV_TAIL = re.compile(r"(10\.1101/[0-9.]+[0-9])v[0-9]+(?:\.[a-z.-]+)?/?$", re.IGNORECASE)
_DOI_SHAPE = re.compile(r"^10\.\d{4,9}(?:\.\d+)*/[^\s\x00-\x1f]+$")
_DOI_TAIL = ".,;)"
# Longer than any identifier with its resolver; what is longer is not looked at.
_LONGEST_IDENTIFIER = 2_000
_PMID_SHAPE = re.compile(
    r"^(?:pmid\s*[:=]?\s*|(?:https?://)?(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov/|ncbi\.nlm\.nih\.gov/pubmed/))?0*([1-9][0-9]{0,8})/?$",
    re.IGNORECASE | re.ASCII,
)
_PMCID_SHAPE = re.compile(
    r"^(?:pmcid\s*[:=]?\s*|(?:https?://)?(?:pmc\.ncbi\.nlm\.nih\.gov/articles/|(?:www\.)?ncbi\.nlm\.nih\.gov/pmc/articles/)|)"
    r"PMC0*([1-9][0-9]{0,8})(?:\.[0-9]+)?/?$",
    re.IGNORECASE | re.ASCII,
)
_ARXIV_PREFIX = r"(?:arxiv\s*[:=]?\s*|(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html|format|src|e-print)/)?"
_ARXIV_NEW = re.compile(
    rf"^{_ARXIV_PREFIX}([0-9]{{2}}(?:0[1-9]|1[0-2])\.[0-9]{{4,5}})(?:v([1-9][0-9]*))?(?:\.pdf)?/?(?:\s*\[[^\]]*\])?$",
    re.IGNORECASE | re.ASCII,
)
_ARXIV_OLD = re.compile(
    rf"^{_ARXIV_PREFIX}([a-z]+(?:-[a-z]+)*)(?:\.[a-z]{{2}})?/([0-9]{{7}})(?:v([1-9][0-9]*))?(?:\.pdf)?/?(?:\s*\[[^\]]*\])?$",
    re.IGNORECASE | re.ASCII,
)
ARXIV_DOI_PREFIX = "10.48550/arxiv."
_ISBN_PREFIX = re.compile(r"^(?:urn:isbn:|isbn(?:-?1[03])?\s*[:=]?\s*)", re.IGNORECASE)
_ISBN_SEPARATORS = re.compile(r"[\s\-\u2010-\u2015\u2212]")


class NotAnIdentifierError(ValueError):
    """The text is not an identifier of the kind that was asked for."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"Not a {kind}: {text[:200]!r}")
        self.kind = kind
        self.text = text


def _check_length(text: str) -> None:
    if len(text) > _LONGEST_IDENTIFIER:
        raise NotAnIdentifierError("identifier", f"{text[:60]}…")


@dataclass(frozen=True, slots=True)
class Doi:
    """A DOI without resolver or label, in lower case, so that equal DOIs compare equal."""

    value: str

    @classmethod
    def parse(cls, text: str) -> Self:
        _check_length(text)
        rest = text.strip()
        if rest.startswith("<") and rest.endswith(">"):
            rest = rest[1:-1]
        found = _DOI_PROXY.match(rest) or _DOI_PREFIX.match(rest)
        is_page = found is not None and _is_page(found)
        while found and found.end():
            is_url = "/" in found.group()
            rest = rest[found.end() :].strip()
            if is_url:
                rest = rest.split("?", 1)[0].split("#", 1)[0]
            found = _DOI_PREFIX.match(rest)
        if is_page:
            rest = rest.split("&", 1)[0]
        if "%" in rest:
            rest = unquote(rest)
        if is_page:
            rest = _BIORXIV_TAIL.sub(r"\1", _PAGE_TAIL.sub("", rest))
        value = _cut_doi_tail(rest.strip()).lower()
        if not _DOI_SHAPE.match(value):
            raise NotAnIdentifierError("DOI", text)
        return cls(value)

    @property
    def url(self) -> str:
        return f"https://doi.org/{quote(self.value, safe='/:;()._-+<>[]')}"

    @property
    def arxiv(self) -> "ArxivId | None":
        """The arXiv identifier that this DOI registers, if it is one of arXiv's own DOIs."""
        if not self.value.startswith(ARXIV_DOI_PREFIX):
            return None
        try:
            return ArxivId.parse(self.value.removeprefix(ARXIV_DOI_PREFIX))
        except NotAnIdentifierError:
            return None

    def __str__(self) -> str:
        return self.value


def without_resolver(text: str) -> str:
    """A DOI without resolver or label, its case kept; any other text is returned as it is."""
    try:
        value = Doi.parse(text).value
    except NotAnIdentifierError:
        return text
    start = text.lower().find(value)
    return text[start : start + len(value)] if start >= 0 else value


def _is_page(found: re.Match[str]) -> bool:
    """Whether a DOI stands behind the address of a publisher's page, not of a resolver."""
    return found.re is _DOI_PROXY and _DOI_RESOLVER.match(found.group()) is None


def _cut_doi_tail(value: str) -> str:
    """A closing bracket belongs to the DOI when its opening one does: 10.1016/0921-4534(89)9."""
    while value and value[-1] in _DOI_TAIL:
        if value[-1] == ")" and value.count("(") >= value.count(")"):
            break
        value = value[:-1]
    return value


@dataclass(frozen=True, slots=True)
class Pmid:
    """A PubMed number."""

    value: str

    @classmethod
    def parse(cls, text: str) -> Self:
        _check_length(text)
        found = _PMID_SHAPE.match(text.strip().rstrip(".,;"))
        if not found:
            raise NotAnIdentifierError("PMID", text)
        return cls(found.group(1))

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Pmcid:
    """A PubMed Central number, with its PMC."""

    value: str

    @classmethod
    def parse(cls, text: str) -> Self:
        _check_length(text)
        found = _PMCID_SHAPE.match(text.strip().rstrip(".,;"))
        if not found:
            raise NotAnIdentifierError("PMCID", text)
        return cls(f"PMC{found.group(1)}")

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class ArxivId:
    """An arXiv identifier, old (hep-th/9901001) or new (2101.00001), with its version apart."""

    value: str
    version: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        _check_length(text)
        rest = text.strip().rstrip(".,;")
        found = _ARXIV_NEW.match(rest)
        if found:
            return cls(found.group(1), int(found.group(2)) if found.group(2) else None)
        found = _ARXIV_OLD.match(rest)
        if found:
            return cls(
                f"{found.group(1).lower()}/{found.group(2)}",
                int(found.group(3)) if found.group(3) else None,
            )
        raise NotAnIdentifierError("arXiv identifier", text)

    @property
    def url(self) -> str:
        return f"https://arxiv.org/abs/{self}"

    @property
    def doi(self) -> str:
        """The DOI that arXiv registers for all versions of it."""
        return f"{ARXIV_DOI_PREFIX}{self.value}"

    def __str__(self) -> str:
        return self.value if self.version is None else f"{self.value}v{self.version}"


@dataclass(frozen=True, slots=True)
class Isbn:
    """An ISBN with a check digit that holds, always as thirteen digits."""

    value: str

    @classmethod
    def parse(cls, text: str) -> Self:
        _check_length(text)
        rest = _ISBN_PREFIX.sub("", text.strip().rstrip(".,;"))
        digits = _ISBN_SEPARATORS.sub("", rest).upper()
        if not digits.isascii():
            raise NotAnIdentifierError("ISBN", text)
        if (
            len(digits) == 13
            and digits.isdigit()
            and digits[:3] in {"978", "979"}
            and _check_13(digits[:12]) == digits[12]
        ):
            return cls(digits)
        if len(digits) == 10 and digits[:9].isdigit() and _check_10(digits[:9]) == digits[9]:
            body = f"978{digits[:9]}"
            return cls(body + _check_13(body))
        raise NotAnIdentifierError("ISBN", text)

    @property
    def isbn_10(self) -> str | None:
        """The older ten-digit form, which only 978 numbers have."""
        if not self.value.startswith("978"):
            return None
        return self.value[3:12] + _check_10(self.value[3:12])

    def __str__(self) -> str:
        return self.value


def _check_13(twelve: str) -> str:
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(twelve))
    return str(-total % 10)


def _check_10(nine: str) -> str:
    total = sum(int(digit) * (10 - place) for place, digit in enumerate(nine))
    check = -total % 11
    return "X" if check == 10 else str(check)


Identifier = Doi | Pmid | Pmcid | ArxivId | Isbn


def parse_or_none(kind: type[Identifier], text: str | None) -> Identifier | None:
    """The identifier; None where the text is empty or no identifier of this kind."""
    if not text or not text.strip():
        return None
    try:
        return kind.parse(text)
    except NotAnIdentifierError:
        return None


def identifier_value(kind: type[Identifier], text: str | None) -> str | None:
    """The value alone, without the version of an arXiv id; None as `parse_or_none`."""
    found = parse_or_none(kind, text)
    return None if found is None else found.value


def identifier_keys(identifier: Identifier) -> tuple[str, ...]:
    """The keys under which a work of this identifier is known; none for an ISBN.

    arXiv registers one DOI for all versions of a preprint, so either names both.
    """
    match identifier:
        case Doi(value=value) if identifier.arxiv is not None:
            return (f"doi:{value}", f"arxiv:{identifier.arxiv.value}")
        case Doi(value=value):
            return (f"doi:{value}",)
        case ArxivId(value=value):
            return (f"arxiv:{value}", f"doi:{identifier.doi}")
        case Pmid(value=value):
            return (f"pmid:{value}",)
        case Pmcid(value=value):
            return (f"pmcid:{value.lower()}",)
        case Isbn():
            return ()

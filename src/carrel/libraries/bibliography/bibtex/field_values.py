"""Single values of BibTeX fields, before or after TeX is read."""

import re

from carrel.libraries.bibliography.bibtex.names import split_outside_braces
from carrel.libraries.bibliography.bibtex.tex import to_plain
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.items import put_other
from carrel.libraries.csl.schema import VARIABLES
from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError, Pmcid

# Labels that Zotero and CSL processors read in notes, beside the names of CSL's variables.
_EXTRA_LABELS = {
    "tex",
    "_eprint",
    "type",
    "citation-key",
    "arxiv",
    "pmid",
    "pmcid",
    "doi",
    "original-title",
}
_EXTRA = re.compile(
    r"^\s*(?:tex\.[\w-]{1,40}|"
    + "|".join(
        sorted(name.replace("-", "[- ]") for name in _EXTRA_LABELS | {str(v) for v in VARIABLES})
    )
    + r")\s*:\s",
    re.IGNORECASE,
)
_AND = re.compile(r"(?<!\s)\s+and\s+")


def join_title(fields: dict[str, str], main: str, sub: str) -> str:
    text = fields.pop(main, "").strip()
    below = fields.pop(sub, "").strip() if text else ""
    if below:
        text = f"{text} {below}" if text[-1] in ":.?!-–—" else f"{text}: {below}"
    return text


def and_list(raw: str) -> list[str]:
    parts = _AND.split(raw)
    # `Taylor and Francis` is one house, `{Springer} and {Wiley}` are two.
    return [raw] if not all(part.strip().startswith("{") for part in parts) else parts


def full_name(name: dict[str, str]) -> str:
    if "literal" in name:
        return name["literal"]
    family = " ".join(
        part for part in (name.get("non-dropping-particle"), name.get("family")) if part
    )
    return ", ".join(part for part in (family, name.get("given")) if part)


def split_keywords(raw: str) -> list[str]:
    """The keywords of a list, whichever sign parts them; what stands in braces is one word."""
    raw = raw.strip()
    if "{" not in raw:
        return raw.split(";" if ";" in raw else ",")
    if raw.startswith("{") and raw.endswith("}") and "{" not in raw[1:] and "}" not in raw[1:-1]:
        return split_keywords(raw[1:-1])
    words = split_outside_braces(raw, ";")
    return words if len(words) > 1 else split_outside_braces(raw, ",")


def keep_extra_lines(raw: str) -> str:
    """Lines of Zotero's Extra field (`PMID: 1`, `tex.key: value`) stay lines of the note."""
    first, *others = raw.split("\n")
    return "".join(
        [first, *(f"\\par {line}" if _EXTRA.match(line) else f"\n{line}" for line in others)]
    )


def verbatim(raw: str) -> str:
    text = raw.strip()
    if "{" in text or "\\" in text:
        text = re.sub(r"\\(?:url|path)\s*\{([^{}]*)\}", r"\1", text)
        # Two backslashes are one of a path on Windows, and escape nothing behind them.
        text = re.sub(r"(\\\\)|\\([&%$#_{}~^])", r"\1\2", text)
        text = (
            text.replace("{\\textasciitilde}", "~")
            .replace("\\textasciitilde", "~")
            .replace("{", "")
            .replace("}", "")
        )
    return " ".join(text.split())


def link_text(raw: str) -> str:
    return verbatim(raw).replace(" ", "%20")


def doi_text(text: str) -> str:
    try:
        return str(Doi.parse(text))
    except NotAnIdentifierError:
        return text


# Signs of an address that TeX has escaped belong to it: `\_`, `{\%}`, `\~{}`, `$\sim$`.
_TILDE = r"\$\\sim\$|\{\\textasciitilde\}|\\textasciitilde(?![A-Za-z])(?:\{\})?"
_ESCAPED = r"\{\\[&%$#_~^](?:\{\})?\}|\\[&%$#_~^](?:\{\})?"
_URL = re.compile(rf"https?://(?:{_TILDE}|{_ESCAPED}|[^\s{{}}\\])+")
_COMMAND_URL = re.compile(r"\\(?:url|href|path)\s*\{([^{}]*)\}")
_MORE_URLS = re.compile(r"^(?:url_|bdsk-url-|citeulike-linkout-)|^adsurl$")
_MANY_LINKS = re.compile(r"(?<![\s;,])(?:\s*[;,]\s+|\s+)(?=https?://)")


def put_links(fields: dict[str, str], item: CslItem) -> None:
    """Move DOI, URL, e-print and whatever else leads to the work from the fields to the item."""
    doi = verbatim(fields.pop("doi", ""))
    if doi:
        item["DOI"] = doi_text(doi)
    url, *others = _MANY_LINKS.split(verbatim(fields.pop("url", "")))
    further = dict.fromkeys(link.replace(" ", "%20") for link in others)
    if further:
        item.setdefault("custom", {})["additional_urls"] = list(further)
    link_in_words = _put_how_published(fields, item)
    url = url.replace(" ", "%20") or link_in_words
    _put_eprint(fields, item)
    _put_arxiv_elsewhere(item)
    for name in [name for name in fields if _MORE_URLS.match(name)]:
        link = link_text(fields.pop(name))
        if link and not url and name.startswith("bdsk-url-"):
            url = link
        elif link and link != url:
            further.setdefault(link)
    if further:
        item.setdefault("custom", {})["additional_urls"] = list(further)
    if url:
        item["URL"] = url
    for name in ("pmcid", "pmc"):
        if name in fields:
            item["PMCID"] = _pmcid_text(verbatim(fields.pop(name)))


def _put_how_published(fields: dict[str, str], item: CslItem) -> str:
    """The link in `howpublished`; the words around it stay beside the item."""
    how = fields.pop("howpublished", "")
    found = _COMMAND_URL.search(how) or _URL.search(how)
    if found is None:
        put_other(item, "howpublished", to_plain(how))
        return ""
    is_command = found.re is _COMMAND_URL
    is_bare = is_command and how.lstrip().startswith("\\") and "\\href" not in how
    written = found.group() if is_command else _without_sentence_end(found.group())
    if not is_bare:
        rest = to_plain(how.replace(written, "")).strip(" ,.:;")
        put_other(item, "howpublished", rest)
    return link_text(re.sub(_TILDE, "~", found.group(1) if is_command else written))


def _without_sentence_end(link: str) -> str:
    """An address among words, without the punctuation and closing bracket of the sentence."""
    link = link.rstrip(".,;:")
    while link.endswith(")") and link.count(")") > link.count("("):
        link = link[:-1].rstrip(".,;:")
    return link


def _pmcid_text(text: str) -> str:
    try:
        return str(Pmcid.parse(text if text.upper().startswith("PMC") else f"PMC{text}"))
    except NotAnIdentifierError:
        return text


_ARXIV_ELSEWHERE = re.compile(
    r"\b(?:arXiv:|abs/)\s?(\d{4}\.\d{4,5}(?:v\d{1,2})?|[a-z-]{2,20}(?:\.[A-Z]{2})?/\d{7})\b",
    re.IGNORECASE,
)


def _put_arxiv_elsewhere(item: CslItem) -> None:
    """Search engines write an e-print's number into the journal, DBLP into the volume."""
    how = item.get("custom", {}).get("fields", {}).get("howpublished", "")
    for text in (item.get("container-title", ""), item.get("volume", ""), how):
        found = _ARXIV_ELSEWHERE.search(text)
        if found and "arxiv_id" not in item.get("custom", {}):
            try:
                identifier = str(ArxivId.parse(found.group(1)))
            except NotAnIdentifierError:
                continue
            item.setdefault("custom", {})["arxiv_id"] = identifier


def _put_eprint(fields: dict[str, str], item: CslItem) -> None:
    eprint = verbatim(fields.pop("eprint", ""))
    archive = verbatim(fields.pop("archiveprefix", "") or fields.pop("eprinttype", "")).lower()
    fields.pop("eprinttype", None)
    category = verbatim(fields.pop("primaryclass", "") or fields.pop("eprintclass", ""))
    if not eprint:
        if archive and archive != "arxiv":
            put_other(item, "archiveprefix", archive)
        return
    if archive in {"", "arxiv"} or eprint.lower().startswith("arxiv:"):
        try:
            identifier = ArxivId.parse(eprint)
            item.setdefault("custom", {})["arxiv_id"] = str(identifier)
            if category:
                put_other(item, "primaryclass", category)
            return
        except NotAnIdentifierError:
            pass
    if archive in {"pubmed", "pmid"} and eprint.isdigit():
        item["PMID"] = eprint
        return
    put_other(item, "eprint", eprint)
    if archive:
        put_other(item, "eprinttype", archive)
    if category:
        put_other(item, "primaryclass", category)

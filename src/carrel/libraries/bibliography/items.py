"""CSL items as they are filled in from a foreign record."""

import re
from collections.abc import Iterable

from carrel.libraries.bibliography.bibtex.names import read_name
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.csl.name_lists import mark_et_al, without_et_al
from carrel.libraries.identifiers import Doi, Isbn, NotAnIdentifierError

_ISSN = re.compile(r"\b\d{4}-?\d{3}[\dXx]\b")
_ISBN = re.compile(r"(?<![\d-])(?:97[89][-\s]?)?(?:\d[-\s]?){9}[\dXx](?![\d-])")
_RANGE = re.compile(r"^([A-Za-z]*)(\d+)\s*[-–]+\s*([A-Za-z]*)(\d+)$")
# Page counts: 300, 300 p., xii, 300 pages.
_PAGE_COUNT = re.compile(
    r"((?:[ivxlcdm]{1,8}[ ,+]{1,3})?\d{1,5})(?: ?(?:p|pp|pages|S|Seiten)\.?)?", re.IGNORECASE
)
# Types whose pages are not a place within something else.
_WHOLE_WORKS = frozenset({"book", "thesis"})
# Catalogues tell people of one name apart by them: `Doe, Jane, 1950-`.
_YEARS_OF_LIFE = re.compile(r"(?<=\S), (?:(?:b\.|born) (?:ca\.? )?\d{4}|\d{4}-(?:\d{4})?)\.?$")
# Words that name bodies and no people, in the languages of most records.
_INSTITUTION = re.compile(
    r"\b(?:academy|administration|agency|association|authority|cent(?:er|re)|"
    r"collaboration|commission|committee|consortium|corporation|council|"
    r"department|federation|foundation|government|group|hospital|institut(?:e|ion)?|"
    r"laborator(?:y|ies)|ltd|ministry|museum|network|organi[sz]ation|parliament|"
    r"partnership|programme|project|society|task ?force|team|universit(?:y|ies)|"
    r"akademie|anstalt|behörde|bundesamt|bundesministerium|gesellschaft|gmbh|hochschule|"
    r"kommission|ministerium|stiftung|universität|verband|verein|zentrum|"
    r"académie|centre|comité|conseil|fondation|ministère|société|université|"
    r"asociación|fundación|instituto|ministerio|sociedad|universidad|"
    r"associazione|istituto|ministero|società|università|universidade)\b\.?",
    re.IGNORECASE,
)
# Family names as well, so that they tell a body only in a longer name without initials.
_DOUBTFUL_INSTITUTION = re.compile(
    r"\b(?:board|bureau|college|company|inc|office|union|amt)\b\.?", re.IGNORECASE
)
_INITIAL = re.compile(r"\b[^\W\d_]\.")
_LONGER_NAME_WORDS = 3
_DOI_WITHIN = re.compile(r"10\.\d{4,9}/[^\s\"<>]+")


_ORDINAL_WORDS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip
_ORDINALS = {word: str(number) for number, word in enumerate(_ORDINAL_WORDS, start=1)}
_EDITION = re.compile(r"^(\d+)\s*(?:st|nd|rd|th)?\.?(?:\s*ed(?:ition|n)?\.?)?$", re.IGNORECASE)


def put(item: CslItem, variable: str, value: str) -> None:
    """Sets a variable to a text; what is empty or set already is left."""
    if value and variable not in item:
        item[variable] = value


def put_or_keep(item: CslItem, variable: str, value: str, name: str) -> None:
    """Sets a variable to a text; where it has another, the text is kept under its own name."""
    if item.setdefault(variable, value) != value:
        put_other(item, name, value)
    elif not value:
        del item[variable]


def put_other(item: CslItem, name: str, value: str) -> None:
    """Keeps what CSL has no variable for, under the name it had."""
    if not value:
        return
    others = item.setdefault("custom", {}).setdefault("fields", {})
    if name in others and others[name] != value:
        others[name] = f"{others[name]}; {value}"
    else:
        others[name] = value


def put_people(item: CslItem, role: str, names: Iterable[str]) -> None:
    texts, has_more = without_et_al(names)
    people = [person for person in (read_person(name) for name in texts) if person]
    if people:
        item[role] = item.get(role, []) + people
    if has_more:
        mark_et_al(item, role)


def read_person(text: str) -> dict[str, str]:
    """A name as `read_plain_person` reads it, or an institution by a word in it.

    These formats invert the names of people, so a name without a comma that has a word of
    institutions is one, too: `World Health Organization`.
    """
    text = " ".join(text.split())
    if "," not in text and _is_institution(text):
        return {"literal": text}
    return read_plain_person(text)


def _is_institution(text: str) -> bool:
    if _INSTITUTION.search(text):
        return True
    is_longer = len(text.split()) >= _LONGER_NAME_WORDS and not _INITIAL.search(text)
    return is_longer and _DOUBTFUL_INSTITUTION.search(text) is not None


def read_plain_person(text: str) -> dict[str, str]:
    """`Family, Given`, `Given Family`, or an institution that ends in a comma, as in EndNote."""
    text = _YEARS_OF_LIFE.sub("", " ".join(text.split()))
    if text.endswith(","):
        return {"literal": text[:-1].strip()} if text[:-1].strip() else {}
    return read_name(text)


def put_link(item: CslItem, url: str) -> None:
    """The first link is the item's, others stand beside it."""
    put_links(item, [url])


def put_links(item: CslItem, urls: Iterable[str]) -> None:
    """The first link is the item's, others stand beside it, each once."""
    wanted = [url for url in urls if url]
    if wanted and "URL" not in item:
        item["URL"] = wanted[0]
    others = [url for url in wanted if url != item["URL"]]
    if others:
        custom = item.setdefault("custom", {})
        custom["additional_urls"] = list(
            dict.fromkeys([*custom.get("additional_urls", ()), *others])
        )


def put_doi(item: CslItem, text: str) -> None:
    """Sets a DOI from any notation; a text without one is kept in another field."""
    if not text:
        return
    found = _DOI_WITHIN.search(text)
    for candidate in (text, found.group()) if found else (text,):
        try:
            put(item, "DOI", str(Doi.parse(candidate)))
        except NotAnIdentifierError:
            continue
        return
    put_other(item, "doi", text)


def put_standard_numbers(item: CslItem, *texts: str) -> None:
    """ISSN and ISBN share a field in many formats; their shape tells them apart."""
    found: dict[str, dict[str, None]] = {
        variable: dict.fromkeys(part for part in item.get(variable, "").split(", ") if part)
        for variable in ("ISBN", "ISSN")
    }
    for text in texts:
        isbns, rest = _without_isbns(text)
        issns = _ISSN.findall(rest)
        found["ISBN"].update(dict.fromkeys(isbns))
        found["ISSN"].update(dict.fromkeys(issns))
        if text and not isbns and not issns:
            other = found["ISBN" if item.get("type") in {"book", "chapter"} else "ISSN"]
            if not other:
                other[text.strip()] = None
    for variable, numbers in found.items():
        if numbers:
            item[variable] = ", ".join(numbers)


def is_standard_number(text: str) -> bool:
    """Whether a text holds an ISBN or ISSN."""
    isbns, rest = _without_isbns(text)
    return bool(isbns or _ISSN.search(rest))


def _without_isbns(text: str) -> tuple[list[str], str]:
    """The valid ISBNs of a text, and the text around them."""
    isbns: list[str] = []
    rest: list[str] = []
    end = 0
    for found in _ISBN.finditer(text):
        try:
            Isbn.parse(found.group())
        except NotAnIdentifierError:
            continue
        isbns.append(found.group().strip())
        rest.append(text[end : found.start()])
        end = found.end()
    return isbns, " ".join([*rest, text[end:]])


def put_pages(item: CslItem, pages: str) -> None:
    """A range, or of a whole work the number of its pages."""
    is_whole = item["type"] in _WHOLE_WORKS and "container-title" not in item
    if is_whole and (count := _PAGE_COUNT.fullmatch(pages.strip())):
        put(item, "number-of-pages", count.group(1))
    else:
        put(item, "page", pages)


def expand_page_range(pages: str) -> str:
    """228-42 is 228-242; anything else stays."""
    found = _RANGE.match(pages.strip())
    if not found:
        return pages.strip()
    letters, first, other_letters, last = found.groups()
    if len(last) < len(first) and not other_letters:
        last = first[: len(first) - len(last)] + last
    return f"{letters}{first}-{other_letters or letters}{last}"


def page_range(start: str, end: str) -> str:
    start, end = start.strip(), end.strip()
    if start and end and start != end and "-" not in start:
        return f"{start}-{end}"
    return start or end


def join_keywords(words: Iterable[str]) -> str:
    seen: dict[str, None] = {}
    for word in words:
        if word.strip():
            seen.setdefault(" ".join(word.split()))
    return "; ".join(seen)


def add_note(item: CslItem, text: str) -> None:
    if text:
        item["note"] = f"{item['note']}\n{text}" if item.get("note") else text


_THREE_LETTERS = {
    "eng": "en", "ger": "de", "deu": "de", "fre": "fr", "fra": "fr", "spa": "es", "ita": "it",
    "por": "pt", "dut": "nl", "nld": "nl", "dan": "da", "swe": "sv", "nor": "no", "fin": "fi",
    "pol": "pl", "cze": "cs", "ces": "cs", "slo": "sk", "slk": "sk", "hun": "hu", "rum": "ro",
    "ron": "ro", "bul": "bg", "rus": "ru", "ukr": "uk", "gre": "el", "ell": "el", "tur": "tr",
    "heb": "he", "ara": "ar", "per": "fa", "fas": "fa", "chi": "zh", "zho": "zh", "jpn": "ja",
    "kor": "ko", "hin": "hi", "vie": "vi", "tha": "th", "lat": "la", "cat": "ca", "hrv": "hr",
    "srp": "sr", "slv": "sl", "est": "et", "lav": "lv", "lit": "lt", "ice": "is", "isl": "is",
    "glg": "gl", "baq": "eu", "eus": "eu", "afr": "af", "ind": "id", "may": "ms",
}  # fmt: skip

_NAMES = {
    "english": "en", "american": "en-US", "usenglish": "en-US", "british": "en-GB",
    "ukenglish": "en-GB", "canadian": "en-CA", "australian": "en-AU", "newzealand": "en-NZ",
    "german": "de", "ngerman": "de", "austrian": "de-AT", "naustrian": "de-AT",
    "swissgerman": "de-CH", "nswissgerman": "de-CH", "french": "fr", "francais": "fr",
    "acadian": "fr-CA", "canadien": "fr-CA", "spanish": "es", "italian": "it", "portuguese": "pt",
    "portuges": "pt", "brazilian": "pt-BR", "brazil": "pt-BR", "dutch": "nl", "danish": "da",
    "swedish": "sv", "norwegian": "no", "norsk": "nb", "nynorsk": "nn", "finnish": "fi",
    "icelandic": "is", "polish": "pl", "czech": "cs", "slovak": "sk", "slovene": "sl",
    "slovenian": "sl", "croatian": "hr", "serbian": "sr", "hungarian": "hu", "romanian": "ro",
    "bulgarian": "bg", "russian": "ru", "ukrainian": "uk", "greek": "el", "turkish": "tr",
    "hebrew": "he", "arabic": "ar", "persian": "fa", "chinese": "zh", "japanese": "ja",
    "korean": "ko", "hindi": "hi", "vietnamese": "vi", "thai": "th", "latin": "la", "catalan": "ca",
    "basque": "eu", "galician": "gl", "estonian": "et", "latvian": "lv", "lithuanian": "lt",
    "irish": "ga", "welsh": "cy", "esperanto": "eo", "indonesian": "id", "bahasa": "id",
    "malay": "ms", "afrikaans": "af", "deutsch": "de", "englisch": "en", "français": "fr",
    "español": "es",
}  # fmt: skip


def two_letters(code: str) -> str:
    """The two-letter code of a language, without its country; what is not a code stays as it is."""
    plain = code.strip().lower()
    return _THREE_LETTERS.get(plain) or (
        plain.split("-")[0].split("_")[0] if len(plain.split("-")[0].split("_")[0]) == 2 else plain
    )


def language_code(text: str) -> str:
    """The code of a language given by English name, three letters or code; else as it is."""
    plain = text.strip().lower()
    return _NAMES.get(plain) or _THREE_LETTERS.get(plain) or text.strip()


def edition_number(text: str) -> str:
    """`Second`, `2nd` and `2nd edition` are 2; anything else is returned unchanged."""
    found = _EDITION.match(text)
    return (
        found.group(1)
        if found
        else _ORDINALS.get(text.lower().removesuffix(" edition").strip(), text)
    )


def put_edition(item: CslItem, text: str) -> None:
    if text:
        put(item, "edition", edition_number(text))


def put_language(item: CslItem, text: str) -> None:
    if text:
        put(item, "language", language_code(text))

"""Style and locale XML, and a locale: terms, dates and options, merged by the fallback rules."""

import html
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from carrel.libraries.text.budget import InputTooCostlyError
from carrel.libraries.text.xml import Element, UnsafeXmlError, XmlError, parse_xml

from .errors import LocaleBrokenError, LocaleNotFoundError

SIZE_LIMIT = 8_000_000


class XmlRefusedError(ValueError):
    """The text is not XML that we read."""


def parse_csl_xml(text: str) -> Element:
    """The root of a style or locale. Raises XmlRefusedError."""
    if len(text) > SIZE_LIMIT:
        raise XmlRefusedError("it is larger than any style")
    try:
        root = parse_xml(text)
    except UnsafeXmlError:
        raise XmlRefusedError("entities in the document type are not allowed") from None
    except XmlError as problem:
        raise XmlRefusedError(f"it is not well-formed XML ({problem})") from None
    except InputTooCostlyError as problem:
        if problem.exceeded != "depth":
            raise
        raise XmlRefusedError("its elements are nested without end") from None
    for element in root.iter():
        for name, value in element.attrib.items():
            if "&" in value:
                element.set(name, html.unescape(value))  # styles that escaped their entities twice
    return root


PRIMARY_DIALECTS = {
    "af": "af-ZA", "ca": "ca-AD", "cs": "cs-CZ", "da": "da-DK", "de": "de-DE", "el": "el-GR",
    "en": "en-US", "es": "es-ES", "et": "et-EE", "fa": "fa-IR", "fi": "fi-FI", "fr": "fr-FR",
    "he": "he-IL", "hr": "hr-HR", "hu": "hu-HU", "is": "is-IS", "it": "it-IT", "ja": "ja-JP",
    "km": "km-KH", "ko": "ko-KR", "mn": "mn-MN", "nb": "nb-NO", "nl": "nl-NL", "nn": "nn-NO",
    "pl": "pl-PL", "pt": "pt-PT", "ro": "ro-RO", "ru": "ru-RU", "sk": "sk-SK", "sl": "sl-SI",
    "sr": "sr-RS", "sv": "sv-SE", "th": "th-TH", "tr": "tr-TR", "uk": "uk-UA", "vi": "vi-VN",
    "zh": "zh-CN", "bg": "bg-BG", "cy": "cy-GB", "gl": "gl-ES", "hi": "hi-IN", "id": "id-ID",
    "lt": "lt-LT", "lv": "lv-LV", "ms": "ms-MY",
}  # fmt: skip
# The specification takes a form that a language lacks from English before it takes another form of
# the language. citeproc-js does so for these alone, and styles are tried with it.
_TAKE_ENGLISH_FORMS = frozenset(
    {"bal", "brh", "cy", "gl", "hi", "hy", "id", "la", "lij", "ms", "pa"}
)
FORM_FALLBACK = {"verb-short": "verb", "symbol": "short", "verb": "long", "short": "long"}
# Gives the XML of a locale file, or None where there is none of that name.
LocaleSource = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class LocaleTerm:
    single: str
    multiple: str
    gender: str = ""
    match: str = ""


@dataclass(slots=True)
class Locale:
    language: str
    terms: dict[tuple[str, str], LocaleTerm] = field(default_factory=dict)
    gendered: dict[tuple[str, str, str], LocaleTerm] = field(default_factory=dict)
    dates: dict[str, Element] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    _cached_terms: dict[tuple[str, str, bool, str], str | None] = field(default_factory=dict)

    @property
    def punctuation_in_quote(self) -> bool:
        return self.options.get("punctuation-in-quote") == "true"

    @property
    def limit_day_ordinals(self) -> bool:
        return self.options.get("limit-day-ordinals-to-day-1") == "true"

    @property
    def is_english(self) -> bool:
        return self.language[:2] == "en"

    def term(
        self, name: str, form: str = "long", plural: bool = False, gender: str = ""
    ) -> str | None:
        """The wording of a term, or None where no layer defines it."""
        key = (name, form, plural, gender)
        if key not in self._cached_terms:
            self._cached_terms[key] = self._look_up(name, form, plural, gender)
        return self._cached_terms[key]

    def _look_up(self, name: str, form: str, plural: bool, gender: str) -> str | None:
        while True:
            term = self.gendered.get((name, form, gender)) if gender else None
            term = term or self.terms.get((name, form))
            if term is not None:
                return term.multiple if plural else term.single
            if form not in FORM_FALLBACK:
                return None
            form = FORM_FALLBACK[form]

    def gender_of(self, name: str) -> str:
        term = self.terms.get((name, "long"))
        return term.gender if term else ""

    def quotes(self) -> tuple[str, str, str, str]:
        """Outer opening and closing, inner opening and closing."""
        return (
            self.term("open-quote") or "“",
            self.term("close-quote") or "”",
            self.term("open-inner-quote") or "‘",
            self.term("close-inner-quote") or "’",
        )

    def add_layer(self, element: Element) -> None:
        terms = element.find("terms")
        if terms is not None:
            found = [term for term in terms if term.tag == "term"]
            if any(_is_ordinal(term.get("name", "")) for term in found):
                self.terms = {
                    key: term for key, term in self.terms.items() if not _is_ordinal(key[0])
                }
                self.gendered = {
                    key: term for key, term in self.gendered.items() if not _is_ordinal(key[0])
                }
            defined = {
                (term.get("name", ""), term.get("form", "long"))
                for term in found
                if not term.get("gender-form")
            }
            known = set(self.terms) if base_of(self.language) in _TAKE_ENGLISH_FORMS else set()
            for term in found:
                self._add_term(term)
                key = (term.get("name", ""), term.get("form", "long"))
                if key not in defined | known and (
                    key[0] == "ordinal" or key[0].startswith("long-ordinal")
                ):
                    # What exists by gender only is feminine where no gender is known.
                    self.terms[key] = _read_term(term)
                    if term.get("gender-form") == "feminine":
                        defined.add(key)
        for date in element.findall("date"):
            self.dates[date.get("form", "text")] = date
        for options in element.findall("style-options"):
            self.options.update(options.attrib)

    def _add_term(self, element: Element) -> None:
        name, form = element.get("name", ""), element.get("form", "long")
        gender_form = element.get("gender-form", "")
        if gender_form:
            self.gendered[(name, form, gender_form)] = _read_term(element)
        else:
            found = _read_term(element)
            before = self.terms.get((name, form))
            if before is not None and before.gender and not found.gender:
                found = replace(found, gender=before.gender)  # Other words are of the same gender.
            self.terms[(name, form)] = found


def _read_term(element: Element) -> LocaleTerm:
    single, multiple = element.find("single"), element.find("multiple")
    if single is not None or multiple is not None:
        one = (single.text or "") if single is not None else ""
        many = (multiple.text or "") if multiple is not None else one
    else:
        one = many = element.text or ""
    if not one.strip() and "\n" in one:
        one = many = ""
    return LocaleTerm(one, many, element.get("gender", ""), element.get("match", ""))


def _is_ordinal(name: str) -> bool:
    return name.startswith("ordinal")


def build_locale(language: str, style: Element | None, source: LocaleSource) -> Locale:
    """The locale of a language: the shipped files first, then what the style itself says."""
    wanted = normalize_language(language)
    base = wanted.split("-")[0]
    takes_english = base == "en" or base in _TAKE_ENGLISH_FORMS
    found_any = False
    locale = Locale(wanted)
    english: set[tuple[str, str]] = set()
    for name in _unique(["en-US", PRIMARY_DIALECTS.get(base, base), base, wanted]):
        text = source(name)
        if text is None:
            continue
        found_any = found_any or name != "en-US" or base == "en"
        try:
            file = parse_csl_xml(text)
        except XmlRefusedError as problem:
            raise LocaleBrokenError(name, str(problem)) from None
        if english and not takes_english:
            # A term that the language has is said in English in none of its forms.
            said = {term.get("name", "") for term in file.iter("term")}
            for key in [key for key in english if key[0] in said]:
                locale.terms.pop(key, None)
                english.remove(key)
        locale.add_layer(file)
        if name == "en-US":
            english = set(locale.terms)
    if style is not None:
        own = style.findall("locale")
        for accepted in _unique(
            ["", base, PRIMARY_DIALECTS.get(base, base) if wanted == base else wanted, wanted]
        ):
            for layer in own:
                if normalize_language(layer.get("lang", "")) == accepted:
                    locale.add_layer(layer)
    if not found_any:
        locale.language = wanted or "en-US"
    return locale


def check_locale(language: str, source: LocaleSource) -> None:
    """Raise LocaleNotFoundError where no locale has this language; a dialect may be missing."""
    wanted = normalize_language(language)
    base = wanted.split("-")[0]
    names = _unique([wanted, base, PRIMARY_DIALECTS.get(base, base)])
    if wanted and not any(source(name) is not None for name in names):
        raise LocaleNotFoundError(language)


def base_of(language: str) -> str:
    """The language without its dialect."""
    return language.split("-", maxsplit=1)[0]


def normalize_language(language: str) -> str:
    """`en_us` and `en-us` as `en-US`; a script subtag keeps its capital."""
    parts = language.strip().replace("_", "-").split("-")
    if not parts[0]:
        return ""
    return "-".join(
        [
            parts[0].lower(),
            *(part.upper() if len(part) == 2 else part.title() for part in parts[1:]),
        ]
    )


def _unique(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))

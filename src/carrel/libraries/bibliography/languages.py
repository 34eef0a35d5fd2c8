"""Languages as bibliographies name them, by word or by code, to the codes that CSL uses."""

_THREE_LETTERS = {
    "eng": "en", "ger": "de", "deu": "de", "fre": "fr", "fra": "fr", "spa": "es", "ita": "it",
    "por": "pt", "dut": "nl",
    "nld": "nl", "dan": "da",
    "swe": "sv", "nor": "no", "fin": "fi", "pol": "pl", "cze": "cs", "ces": "cs", "slo": "sk",
    "slk": "sk", "hun": "hu",
    "rum": "ro", "ron": "ro",
    "bul": "bg", "rus": "ru", "ukr": "uk", "gre": "el", "ell": "el", "tur": "tr", "heb": "he",
    "ara": "ar", "per": "fa",
    "fas": "fa", "chi": "zh",
    "zho": "zh", "jpn": "ja", "kor": "ko", "hin": "hi", "vie": "vi", "tha": "th", "lat": "la",
    "cat": "ca", "hrv": "hr",
    "srp": "sr", "slv": "sl",
    "est": "et", "lav": "lv", "lit": "lt", "ice": "is", "isl": "is", "glg": "gl", "baq": "eu",
    "eus": "eu", "afr": "af",
    "ind": "id", "may": "ms",
}  # fmt: skip

_NAMES = {
    "english": "en", "american": "en-US", "usenglish": "en-US", "british": "en-GB",
    "ukenglish": "en-GB", "canadian": "en-CA",
    "australian": "en-AU",
    "newzealand": "en-NZ", "german": "de", "ngerman": "de", "austrian": "de-AT",
    "naustrian": "de-AT", "swissgerman": "de-CH",
    "nswissgerman": "de-CH",
    "french": "fr", "francais": "fr", "acadian": "fr-CA", "canadien": "fr-CA", "spanish": "es",
    "italian": "it",
    "portuguese": "pt", "portuges": "pt",
    "brazilian": "pt-BR", "brazil": "pt-BR", "dutch": "nl", "danish": "da", "swedish": "sv",
    "norwegian": "no", "norsk": "nb",
    "nynorsk": "nn",
    "finnish": "fi", "icelandic": "is", "polish": "pl", "czech": "cs", "slovak": "sk",
    "slovene": "sl", "slovenian": "sl",
    "croatian": "hr", "serbian": "sr",
    "hungarian": "hu", "romanian": "ro", "bulgarian": "bg", "russian": "ru", "ukrainian": "uk",
    "greek": "el", "turkish": "tr",
    "hebrew": "he",
    "arabic": "ar", "persian": "fa", "chinese": "zh", "japanese": "ja", "korean": "ko",
    "hindi": "hi", "vietnamese": "vi",
    "thai": "th", "latin": "la",
    "catalan": "ca", "basque": "eu", "galician": "gl", "estonian": "et", "latvian": "lv",
    "lithuanian": "lt", "irish": "ga",
    "welsh": "cy", "esperanto": "eo",
    "indonesian": "id", "bahasa": "id", "malay": "ms", "afrikaans": "af", "deutsch": "de",
    "englisch": "en", "français": "fr",
    "español": "es",
}  # fmt: skip


def two_letters(code: str) -> str:
    """The two-letter code of a language, without its country; what is not a code stays as it is."""
    plain = code.strip().lower()
    return _THREE_LETTERS.get(plain) or (
        plain.split("-")[0].split("_")[0] if len(plain.split("-")[0].split("_")[0]) == 2 else plain
    )


def language_code(text: str) -> str:
    """The code of a language given by English name, three letters or code; anything else as it
    is.
    """
    plain = text.strip().lower()
    return _NAMES.get(plain) or _THREE_LETTERS.get(plain) or text.strip()

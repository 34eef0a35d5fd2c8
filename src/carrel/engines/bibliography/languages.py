"""Languages as bibliographies name them, by word or by code, to the codes that CSL uses."""

_THREE_LETTERS = {
    "eng": "en", "ger": "de", "deu": "de", "fre": "fr", "fra": "fr", "spa": "es", "ita": "it", "por": "pt", "dut": "nl", "nld": "nl", "dan": "da",
    "swe": "sv", "nor": "no", "fin": "fi", "pol": "pl", "cze": "cs", "ces": "cs", "slo": "sk", "slk": "sk", "hun": "hu", "rum": "ro", "ron": "ro",
    "bul": "bg", "rus": "ru", "ukr": "uk", "gre": "el", "ell": "el", "tur": "tr", "heb": "he", "ara": "ar", "per": "fa", "fas": "fa", "chi": "zh",
    "zho": "zh", "jpn": "ja", "kor": "ko", "hin": "hi", "vie": "vi", "tha": "th", "lat": "la", "cat": "ca", "hrv": "hr", "srp": "sr", "slv": "sl",
    "est": "et", "lav": "lv", "lit": "lt", "ice": "is", "isl": "is", "glg": "gl", "baq": "eu", "eus": "eu", "afr": "af", "ind": "id", "may": "ms",
}  # fmt: skip


def two_letters(code: str) -> str:
    """The two-letter code of a language, without its country; what is not a code stays as it is."""
    plain = code.strip().lower()
    return _THREE_LETTERS.get(plain) or (plain.split("-")[0].split("_")[0] if len(plain.split("-")[0].split("_")[0]) == 2 else plain)

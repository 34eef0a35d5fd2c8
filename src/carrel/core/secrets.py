"""Masks secrets in foreign text: providers, services and drivers may echo a key that we sent.

Secrets given to this process are masked in every form in which they are echoed, others by their
shape, before the text reaches an error, a log line or a store.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, quote_plus

MASK = "***"

# Anything shorter would be found by chance inside of ordinary words.
_LEAST_CHARACTERS = 8
# So much of the beginning of a secret tells whose it is, and lies in texts that were cut.
_TELLING_CHARACTERS = 8
_MOST_KNOWN = 64
_HEAD = 6
_BETWEEN = r"""(?:\\[nrt]|[\s"'`+\\,|\u200b-]){0,8}"""

_SHAPES = re.compile(
    r"""
    (?P<authorization>\b(?:bearer|basic|token|apikey)\s+)[A-Za-z0-9._~+/=-]{12,}
    | (?P<userinfo>://[^\s/:@]{0,200}:)[^\s/@]{1,200}(?=@)
    | (?P<named>
        (?:\b|[_-])(?:api[_-]?key|apikey|access[_-]?key|access[_-]?token|auth[_-]?token|refresh[_-]?token|id[_-]?token|token|secret
        |client[_-]?secret|password|passwd|pwd|signature|sig|credential|private[_-]?key|x-api-key|x-goog-api-key|(?<=[?&])key)
        ["']?\s{0,3}(?:=|:|%3D|%3A)\s{0,3}["']?
      )(?=[^\s"'&,;]{0,64}\d)[^\s"'&,;<>]{8,}
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?
    | \b(?:sk|pk|rk)-[A-Za-z0-9_*.…-]{12,}
    | \bAIza[0-9A-Za-z_*-]{20,}
    | \b(?:gh[opsur]_|github_pat_|glpat-|hf_|xox[abeoprs]-|carrel_|npg_|ya29\.)[A-Za-z0-9_*.-]{16,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | -----BEGIN[ ][A-Z ]{0,30}PRIVATE[ ]KEY-----[\s\S]{0,8000}?(?:-----END[ ][A-Z ]{0,30}PRIVATE[ ]KEY-----|\Z)
    """,  # noqa: E501
    re.VERBOSE | re.IGNORECASE,
)


# Every match of the patterns above contains one of these; this check costs a tenth of them.
_SIGNS = (
    *(
        "bearer",
        "basic",
        "token",
        "apikey",
        "://",
        "key",
        "secret",
        "passw",
        "pwd",
        "sig",
        "credential",
        "eyj",
        "sk-",
        "pk-",
        "rk-",
    ),
    *(
        "aiza",
        "gho_",
        "ghp_",
        "ghs_",
        "ghu_",
        "ghr_",
        "github_pat_",
        "glpat-",
        "hf_",
        "xox",
        "carrel_",
        "npg_",
        "ya29",
        "akia",
    ),
    *("asia", "-----begin"),
)
_SEPARATORS = str.maketrans("", "", " \t\r\n\"'`+\\,|\u200b-")


@dataclass(frozen=True, slots=True)
class _Known:
    """A secret: a pattern of all its forms, and strings of which one precedes every match."""

    pattern: re.Pattern[str]
    heads: tuple[str, ...]
    squeezed: str

    def may_be_in(self, lowered: str, squeezed: str) -> bool:
        return any(head in lowered for head in self.heads) or self.squeezed in squeezed


class _KnownSecrets:
    """The secrets of this process."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def add(self, secret: str) -> None:
        if len(secret) < _LEAST_CHARACTERS or secret in self._known:
            return
        while len(self._known) >= _MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[secret] = _known_secret(secret)

    def mask(self, text: str) -> str:
        if not self._known:
            return text
        lowered = text.lower()
        squeezed = lowered.translate(_SEPARATORS)
        for known in tuple(self._known.values()):
            if known.may_be_in(lowered, squeezed):
                text = known.pattern.sub(MASK, text)
        return text

    def are_in(self, text: str) -> bool:
        return any(secret in text for secret in self._known)


_known = _KnownSecrets()


def remember_secrets(secrets: Iterable[str | None]) -> None:
    """From now on hides these wherever foreign text is masked."""
    for secret in secrets:
        if secret:
            _known.add(secret.strip())


def mask_known_secrets(text: str) -> str:
    """Content without the secrets of this process, in any form; nothing else is changed."""
    return _known.mask(text)


def mask_plain_secrets(text: str) -> str:
    """As `mask_secrets` for our own text, verbatim secrets only; cheap enough for every call."""
    return _known.mask(text) if _known.are_in(text) else text


def mask_secrets(text: str) -> str:
    """Mask known secrets, and what is shaped like one, in the text of an error or log line."""
    text = _known.mask(text)
    lowered = text.lower()
    return _SHAPES.sub(_hide_value, text) if any(sign in lowered for sign in _SIGNS) else text


def mask_secrets_in(value: object) -> object:
    """The same in every text of a value as errors carry it in their details."""
    if isinstance(value, str):
        return mask_secrets(value)
    if isinstance(value, dict):
        return {key: mask_secrets_in(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return (
            type(value)(mask_secrets_in(item) for item in value)
            if type(value) in {list, tuple}
            else value
        )
    return value


def password_in_url(url: str | None) -> str | None:
    """The password in a URL such as postgresql://user:password@host/name, not decoded, or None."""
    found = re.search(r"://[^\s/:@]*:([^\s/]+)@", url or "")
    return found[1] if found else None


def _hide_value(found: re.Match[str]) -> str:
    kept = found["authorization"] or found["userinfo"] or found["named"] or ""
    return f"{kept}{MASK}"


@lru_cache(maxsize=_MOST_KNOWN)
def _known_secret(secret: str) -> _Known:
    whole = {
        secret,
        quote(secret, safe=""),
        quote(secret, safe="").replace("%2D", "-"),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        html.escape(secret),
        secret.encode().hex(),
        "".join(f"%{byte:02X}" for byte in secret.encode()),
        "".join(f"\\x{byte:02x}" for byte in secret.encode()),
        "".join(f"\\u{ord(character):04x}" for character in secret),
        "".join(f"&#{ord(character)};" for character in secret),
        "".join(f"&#x{ord(character):x};" for character in secret),
        *(secret.encode().hex(separator) for separator in " :-"),
        *_base64_forms(secret),
    }
    forms = [re.escape(form) for form in sorted(whole, key=len, reverse=True)]
    heads = tuple({form[:_HEAD].lower() for form in whole})
    if secret.isalpha():
        # An ordinary word: inside of longer words it is no secret.
        pattern = re.compile("|".join(rf"(?<![^\W_]){form}(?![^\W_])" for form in forms))
        return _Known(pattern, heads, secret.lower())
    forms.append(_BETWEEN.join(re.escape(character) for character in secret))
    forms.extend(_cut_forms(secret))
    end = _telling_end(secret)
    if end:
        forms.append(rf"[\w*.…+/~%-]{{0,64}}{re.escape(end)}")
        heads = (*heads, end.lower())
    return _Known(
        re.compile("|".join(forms), re.IGNORECASE),
        (*heads, secret[:4].lower()),
        secret.lower().translate(_SEPARATORS),
    )


def _base64_forms(secret: str) -> set[str]:
    """The secret within base64 text, at each offset modulo 3 bytes, without shared characters."""
    forms: set[str] = set()
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(b"\0" * before + secret.encode()).decode().rstrip("=")
            first = -(-before * 8 // 6)
            whole_characters = (before + len(secret.encode())) * 8 // 6
            forms.add(text[first:whole_characters])
    return {form for form in forms if len(form) >= _TELLING_CHARACTERS}


def _is_telling(piece: str) -> bool:
    """Whether a part identifies the secret: it must not look like an ordinary word."""
    return any(character.isdigit() for character in piece) or (
        piece != piece.lower() and piece != piece.upper()
    )


def _telling_end(secret: str) -> str:
    """The shortest suffix that identifies the secret, or an empty string."""
    ends = (secret[-length:] for length in range(_TELLING_CHARACTERS, len(secret)))
    return next((end for end in ends if _is_telling(end)), "")


def _cut_forms(secret: str) -> Iterator[str]:
    """Patterns for truncated forms: a prefix, and first and last characters around a mask."""
    for length in range(_TELLING_CHARACTERS, len(secret)):
        start = secret[:length]
        if _is_telling(start):
            yield rf"{re.escape(start)}[\w*.…+/=~%-]{{0,400}}"
            break
    yield rf"{re.escape(secret[:4])}[\w.~-]{{0,12}}?(?:\*{{2,}}|\.{{3,}}|…)[\w~-]{{0,12}}?{re.escape(secret[-2:])}(?!\w)"  # noqa: E501

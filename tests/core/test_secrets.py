"""Secrets in text that comes from elsewhere."""

from __future__ import annotations

import base64
import html
import json
import logging
from collections.abc import Callable
from urllib.parse import quote

import pytest

from carrel.core.errors import CarrelError
from carrel.core.secrets import (
    _KnownSecrets,
    mask_known_secrets,
    mask_secrets,
    password_in_url,
    remember_secrets,
)
from carrel.doors.logs import _JsonForm, _TextForm
from carrel.settings import Settings

pytestmark = pytest.mark.promise("A7")

KEY = 'zQ7/our+own key="Ω-9f8e7d6c5b4a'
PLAIN = "vx-plain-4f6d8a0c2e1b3579"


@pytest.fixture(autouse=True)
def only_our_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process may have met secrets of other tests, which would be masked here as well."""
    monkeypatch.setattr("carrel.core.secrets._known", _KnownSecrets())
    remember_secrets((KEY, PLAIN))


FORMS: dict[str, Callable[[str], str]] = {
    "as it is": lambda key: key,
    "percent-encoded": lambda key: quote(key, safe=""),
    "in JSON": lambda key: json.dumps(key)[1:-1],
    "in JSON, in JSON": lambda key: json.dumps({"inner": key}, ensure_ascii=False),
    "in HTML": html.escape,
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 for addresses": lambda key: base64.urlsafe_b64encode(key.encode()).decode(),
    "basic authorization": lambda key: base64.b64encode(f"user:{key}".encode()).decode(),
    "after one byte": lambda key: base64.b64encode(f"a{key}b".encode()).decode(),
    "after two bytes": lambda key: base64.b64encode(f"ab{key}bc".encode()).decode(),
    "in hexadecimal": lambda key: key.encode().hex(),
    "in hexadecimal with spaces": lambda key: key.encode().hex(" ").upper(),
    "in hexadecimal with colons": lambda key: key.encode().hex(":"),
    "as numbers in HTML": lambda key: "".join(f"&#{ord(sign)};" for sign in key),
    "as hexadecimal numbers in HTML": lambda key: "".join(f"&#x{ord(sign):x};" for sign in key),
    "as numbers in JSON": lambda key: "".join(f"\\u{ord(sign):04x}" for sign in key),
    "as bytes": lambda key: "".join(f"\\x{byte:02x}" for byte in key.encode()),
    "upper case": str.upper,
    "in two lines, in JSON": lambda key: f"{key[:12]}\\n{key[12:]}",
    "in two lines": lambda key: f"{key[:12]}\n    {key[12:]}",
    "in pieces": lambda key: '" + "'.join(key[at : at + 5] for at in range(0, len(key), 5)),
}


def windows(text: str) -> set[str]:
    """Every eight characters of a text that follow each other."""
    return {text[at : at + 8] for at in range(len(text) - 7)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", [KEY, PLAIN])
def test_a_known_secret_is_hidden_in_every_form(form: str, key: str) -> None:
    echoed = FORMS[form](key)
    text = f"before {echoed} after"
    for masked in (mask_secrets(text), mask_known_secrets(text)):
        assert masked.startswith("before ")
        assert masked.endswith(" after")
        left = masked.removeprefix("before ").removesuffix(" after").replace("***", "")
        of_key = windows(echoed) - windows(FORMS[form]("#" * len(key)))
        assert not windows(left) & of_key, masked


def test_what_is_left_of_a_cut_or_half_hidden_key_is_hidden() -> None:
    for echoed in (
        PLAIN[:-5],
        f"{PLAIN[:-4]}...",
        PLAIN[9:],
        f"...{PLAIN[9:]}",
        f"********{PLAIN[-10:]}",
        f"{PLAIN[:6]}********{PLAIN[-4:]}",
        f"{PLAIN[:5]}…{PLAIN[-4:]}",
    ):
        assert (
            mask_secrets(f"Incorrect key provided: {echoed}").replace("***", "").strip()
            == "Incorrect key provided:"
        )


SHAPES = [
    "sk-proj-Abc123def456ghi789",
    "sk-ant-api03-aaaaBBBB1111cccc",
    "AIzaSyA1234567890abcdefghijklmnopqrstuvw",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "carrel_Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.SflKxwRJSMeKKF2QT4fw",
    "AKIAIOSFODNN7EXAMPLE",
]


@pytest.mark.parametrize("token", SHAPES)
def test_what_has_the_shape_of_a_secret_is_hidden_in_errors(token: str) -> None:
    assert mask_secrets(f"it said {token}, and no") == "it said ***, and no"


def test_named_values_are_hidden_and_their_names_stay() -> None:
    said = (
        "GET https://api.example/x?api_key=0123456789ab&db=pubmed Authorization: Bearer "
        "abcdef0123456789 postgresql://ada:pw@host/db"
    )
    masked = mask_secrets(said)
    assert "api_key=***&db=pubmed" in masked
    assert "Bearer ***" in masked
    assert (
        mask_secrets("GET https://maps.example/x?a=1&key=0a1b2c3d4e5f")
        == "GET https://maps.example/x?a=1&key=***"
    )
    assert "postgresql://ada:***@host/db" in masked
    assert mask_secrets('{"client_secret": "s3cr3t-value"}') == '{"client_secret": "***"}'


@pytest.mark.parametrize(
    "text",
    [
        "token: required, and has fewer than 8 characters",
        "The password is too short; choose one of 12 characters or more.",
        "Research on basic fibroblast growth factor and bearer plants",
        "paper_id sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 was not "
        "found",
        "https://doi.org/10.1000/xyz123 key findings: 12345678",
        "list_hypotheses names those of project res_0123456789abcdef",
        "sk-ip this",
        "There is no reference with the key: smith2020review2, nor key=doe2021atlas",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert mask_secrets(text) == text


def test_a_word_that_is_a_password_is_hidden_as_a_word_only() -> None:
    remember_secrets(("postgres",))
    assert (
        mask_secrets("PostgreSQL at postgresql://localhost refused postgres")
        == "PostgreSQL at postgresql://localhost refused ***"
    )


def test_errors_logs_and_settings_hide_what_settings_hold() -> None:
    Settings.model_validate(
        {
            "database": {"url": "postgresql://ada:correct-horse-7@db/carrel"},
            "model": {"api_key": "kq-1234567890"},
        }
    )
    error = CarrelError(
        "connection to correct-horse-7 failed",
        details={"said": ["kq-1234567890", {"x": "kq-1234567890"}]},
    )
    assert "correct-horse-7" not in f"{error} {error.message}"
    assert error.details == {"said": ["***", {"x": "***"}]}
    record = logging.makeLogRecord(
        {
            "name": "x",
            "levelno": logging.INFO,
            "levelname": "INFO",
            "msg": "kq-1234567890",
            "f": "correct-horse-7",
        }
    )
    for form in (_TextForm(), _JsonForm()):
        line = form.format(record)
        assert "kq-123" not in line
        assert "correct" not in line


def test_the_password_of_an_address_is_found() -> None:
    assert password_in_url("postgresql://ada:p%40ss@host/db") == "p%40ss"
    assert password_in_url("https://host/path:1@x") is None
    assert password_in_url(None) is None


def test_masking_does_not_take_longer_than_the_text_is_long() -> None:
    for text in (
        "sk-" * 50_000,
        "a:" * 50_000,
        PLAIN[:7] * 20_000,
        "token=" * 20_000,
        "://a:" * 20_000,
        "-" * 100_000,
    ):
        assert len(mask_secrets(text)) <= len(text) + 3 * 20_000

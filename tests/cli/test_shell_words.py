"""Words of a shell's line: whatever a stored name holds, the shell reads it back and obeys none."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.cli.completion import split_line
from carrel.cli.shell_words import find_open_quote, quote_for_bash, quote_for_powershell

NAMES = (
    "smith:2020",
    "müller2020",
    "$(touch${IFS}x)",
    "`touch x`",
    "a;b|c&d<e>f",
    "~root",
    'it\'s "so"\\',
    "star*?[a]{b,c}",
    "#no!!comment!",
    "a b",
)


@given(st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=20))
def test_bash_reads_back_what_was_quoted(name: str) -> None:
    assert split_line("carrel " + quote_for_bash(name)) == ["carrel", name]
    for quote in "'\"":
        assert split_line(f"carrel {quote}{quote_for_bash(name, quote)}{quote}") == ["carrel", name]


@pytest.mark.promise("A8")
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_a_real_bash_obeys_nothing_of_a_name(quote: str) -> None:
    words = " ".join(f"{quote}{quote_for_bash(name, quote)}{quote}" for name in NAMES)
    asked = subprocess.run(
        ["bash", "-H", "-c", f"printf '%s\\n' {words}"], capture_output=True, text=True, check=True
    )
    assert asked.stdout.splitlines() == list(NAMES) and not asked.stderr


@pytest.mark.parametrize(
    ("line", "quote"),
    [
        ("carrel a", ""),
        ("carrel 'a", "'"),
        ('carrel "a', '"'),
        ("carrel 'a'", ""),
        ("carrel it\\'s", ""),
        ('carrel "a\\"', '"'),
        ("carrel 'a\\'", ""),
        ("carrel \"it's", '"'),
    ],
)
def test_the_open_quote_of_a_line_is_found(line: str, quote: str) -> None:
    assert find_open_quote(line) == quote


def test_powershell_gets_one_word() -> None:
    assert quote_for_powershell("smith:2020") == "smith:2020"
    assert quote_for_powershell("müller-2020") == "müller-2020"
    assert quote_for_powershell("a$(b)") == "'a$(b)'"
    assert quote_for_powershell("it's ‘so’") == "'it''s ‘‘so’’'"
    assert quote_for_powershell("a;b") == "'a;b'"

"""The parts of the web door: addresses, messages, Markdown of strangers, forms, redirects."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from carrel.core.caller import Call
from carrel.core.errors import InvalidInputError
from carrel.core.operation import Answer, Operation, Question
from carrel.core.pages import FieldValues, local_address
from carrel.doors.web.assets import StaticFiles
from carrel.doors.web.forms import form_arguments, read_fields
from carrel.doors.web.markdown import render_inline, render_markdown
from carrel.doors.web.messages import LANGUAGES, choose_language, read_messages
from carrel.doors.web.rendering import PageRenderer, mark_snippet, outside_url
from carrel.doors.web.responses import local_path
from carrel.doors.web.router import PathRouter
from tests.console.tour import console_parts

pytestmark = pytest.mark.promise("V1")
PACKAGES = ["carrel.doors.web", *(part.folder for part in console_parts())]
HOSTILE_MARKDOWN = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](  javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:alert(1))",
    "[x](//evil.example/)",
    "<javascript:alert(1)>",
    "![x](https://evil.example/pixel.png)",
    "![x](//evil.example/pixel.png)",
    "![x](javascript:alert(1))",
    "$\\text{<svg/onload=alert(1)>}$",
    "$$\\text{<img src=x onerror=alert(1)>}$$",
    "$\\href{javascript:alert(1)}{x}$",
    "$\\frac{$",
    "`<script>`",
    "```html\n<script>alert(1)</script>\n```",
    "| a |\n|---|\n| <script>alert(1)</script> |",
    "<style>*{display:none}</style>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x]: javascript:alert(1)\n\n[x]",
    "<math><mtext></form><form><mglyph><svg><mtext><textarea><path id=x onload=alert(1)>",
)
_DANGEROUS = re.compile(
    r"<(script|svg|iframe|style|form)|\son\w+\s*="
    r"|href=\"?\s*(javascript|data|vbscript|//)|src=\"?(https?:|//)",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^>]*>?")


def dangerous_tags(html: str) -> list[str]:
    """Tags that could do something; text that only looks like one is escaped and harmless."""
    return [tag for tag in _TAG.findall(html) if _DANGEROUS.search(tag)]


@pytest.mark.parametrize("source", HOSTILE_MARKDOWN)
def test_markdown_of_strangers_does_nothing(source: str) -> None:
    for html in (render_markdown(source), render_inline(source)):
        assert not dangerous_tags(html), html


@given(
    st.text(alphabet=st.sampled_from("<>[]()!$\\`*_{}\"'=/:;# \nabjscriptvonerhfl"), max_size=120)
)
def test_no_markdown_gives_a_dangerous_tag(source: str) -> None:
    assert not dangerous_tags(render_markdown(source))


def test_markdown_keeps_what_a_reader_needs() -> None:
    html = render_markdown(
        "# Title\n\nSome **bold** and $E = mc^2$.\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    )
    assert "<h2>Title</h2>" in html
    assert "<strong>bold</strong>" in html
    assert "<math" in html
    assert "<msup>" in html
    assert "<td>1</td>" in html


def test_a_snippet_marks_matches_and_escapes_the_rest() -> None:
    assert str(mark_snippet("a **cold** <b>")) == "a <mark>cold</mark> &lt;b&gt;"
    assert str(mark_snippet("**<script>**")) == "<mark>&lt;script&gt;</mark>"


def test_an_extract_shows_words_and_no_signs_of_markdown() -> None:
    assert str(mark_snippet(r"shifted \*in space\*: so")) == "shifted in space: so"
    assert str(mark_snippet(r"a \* b \* c, r\*k\*")) == "a * b * c, r*k*"
    assert str(mark_snippet("See [[**Viscosity**]].")) == "See <mark>Viscosity</mark>."
    assert str(mark_snippet("by [[paper:a1|Swanson]]")) == "by Swanson"


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "data:text/html,x", "//x", "/x", "ftp://x", "http://", "ht\ntp://x"],
)
def test_an_address_of_a_stranger_is_a_link_only_for_http(address: str) -> None:
    assert outside_url(address) == ""


def test_an_http_address_stays() -> None:
    assert outside_url(" https://doi.org/10.1/x ") == "https://doi.org/10.1/x"


@given(st.text(max_size=60))
def test_a_redirect_stays_on_this_server(text: str) -> None:
    path = local_path(text)
    assert path.startswith("/")
    assert not path.startswith(("//", "/\\"))
    assert path.isascii()
    assert "\n" not in path
    assert "\r" not in path


def test_every_language_has_the_same_messages_with_the_same_values() -> None:
    for package in PACKAGES:
        tables = {}
        for language in LANGUAGES:
            text = (files(package) / "messages" / f"{language}.toml").read_text("utf-8")
            tables[language] = dict(_flatten(tomllib.loads(text), ""))
        english = tables.pop("en")
        for language, table in tables.items():
            assert set(table) == set(english), (package, language, set(table) ^ set(english))
            for key, value in english.items():
                assert _fields(value) == _fields(table[key]), (package, language, key)


def _flatten(table: dict[str, Any], before: str) -> Any:
    for name, value in table.items():
        if isinstance(value, dict) and set(value) != {"one", "other"}:
            yield from _flatten(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _fields(value: Any) -> set[str]:
    text = value["other"] if isinstance(value, dict) else str(value)
    return set(re.findall(r"\{(\w+)[^}]*\}", text))


def test_every_message_that_a_template_names_is_there() -> None:
    messages = read_messages(PACKAGES)["en"]
    for package in PACKAGES:
        for file in _templates(package):
            for key in re.findall(r"""\bt\(\s*["']([\w.]+)["']\s*[,)]""", file.read_text("utf-8")):
                assert messages.has(key), (package, file.name, key)


def test_every_message_is_named_or_begins_like_one_that_is_put_together() -> None:
    sources = "\n".join(
        file.read_text("utf-8")
        for package in PACKAGES
        for ending in ("py", "html", "js")
        for file in Path(str(files(package))).rglob(f"*.{ending}")
    )
    named = set(re.findall(r"""["'`](\w+(?:\.[\w-]+)+)["'`]""", sources))
    # Such as "papers.tabs." ~ name. The name of a room alone would excuse all of its messages.
    begun = tuple(set(re.findall(r"""["'`](\w+\.(?:\w+\.)*\w+[._])["'`{$]""", sources)))
    for package in PACKAGES:
        text = (files(package) / "messages" / "en.toml").read_text("utf-8")
        keys = [key for key, _ in _flatten(tomllib.loads(text), "")]
        unused = [key for key in keys if key not in named and not key.startswith(begun)]
        assert unused == [], package


def _templates(package: str) -> Any:
    folder = files(package) / "templates"
    return [file for part in folder.iterdir() if part.is_dir() for file in part.iterdir()]


def test_every_template_compiles_and_names_no_inline_script_style_or_unsafe_filter() -> None:
    PageRenderer(PACKAGES, StaticFiles(PACKAGES), read_messages(PACKAGES)).load_all()
    for package in PACKAGES:
        for file in _templates(package):
            text = file.read_text("utf-8")
            assert not re.search(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", text), (
                file.name
            )
            markup = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", text, flags=re.DOTALL)
            assert not re.search(r"\sstyle\s*=", markup), file.name
            assert not re.search(r"\son[a-z]+\s*=\s*[\"']", text), file.name
            assert not re.search(r"\|\s*safe\b", text), file.name
            assert "autoescape" not in text, file.name


def test_every_entry_of_the_navigation_has_its_label_icon_and_page() -> None:
    messages = read_messages(PACKAGES)
    icons = (files("carrel.doors.web") / "static" / "desk" / "icons.svg").read_text("utf-8")
    paths = {page.path for part in console_parts() for page in part.pages}
    for part in console_parts():
        for entry in part.navigation:
            assert messages["en"].has(entry.label), entry
            assert f'id="{entry.icon}"' in icons, entry
            assert entry.path in paths, entry


def test_a_language_is_chosen_by_the_person_then_by_the_browser() -> None:
    assert choose_language("de", "en") == "en"
    assert choose_language("fr, de;q=0.5, en;q=0.1", "") == "de"
    assert choose_language("fr", "xx") == "en"
    assert choose_language(";;;q=x,,", "") == "en"


def test_a_variable_at_the_end_takes_slashes_and_others_do_not() -> None:
    router = PathRouter(
        [("/p", "list"), ("/p/{kind}/x/{id}", "deep"), ("/p/{id}", "one"), ("/p/new", "new")]
    )
    assert _found(router, "/p/10.1/a/b") == ("one", {"id": "10.1/a/b"})
    assert _found(router, "/p/a/x/b/c") == ("deep", {"kind": "a", "id": "b/c"})
    assert _found(router, "/p/new") == ("new", {})
    assert _found(router, "/p/") == ("list", {})
    assert router.find("/q") is None


def _found(router: PathRouter[str], path: str) -> tuple[str, dict[str, str]]:
    found = router.find(path)
    assert found is not None
    return found.target, found.variables


def test_an_address_quotes_its_parts_and_leaves_empty_fields_out() -> None:
    assert local_address("/papers/paper", "10.1/a b?c", q="x y", page=None, tag=["a", "b"]) == (
        "/papers/paper/10.1/a%20b%3Fc?q=x+y&tag=a&tag=b"
    )
    assert local_address("/") == "/"


class FormQuestion(Question):
    """Every kind of field."""

    name: str
    count: int | None = None
    share: float = 0.5
    is_on: bool = False
    tags: list[str] = Field(default_factory=list)
    numbers: list[int] | None = None
    facts: dict[str, Any] | None = None


class FormAnswer(Answer):
    """Nothing."""


async def _run(question: FormQuestion, call: Call) -> FormAnswer:
    return FormAnswer()


FORM_OPERATION: Operation[Any] = Operation(
    "form", "papers", "Form", "A form.", FormQuestion, FormAnswer, _run, frozenset()
)


def test_a_form_gives_the_arguments_of_an_operation() -> None:
    form = read_fields(
        b"name=&count=3&share=.25&is_on=on&tags=a&tags=&tags=b&numbers=1&numbers=2"
        b"&facts.json=%7B%22x%22%3A1%7D&_next=/x&csrf=y"
    )
    assert form_arguments(FORM_OPERATION, form) == {
        "name": "",
        "count": 3,
        "share": 0.25,
        "is_on": True,
        "tags": ["a", "b"],
        "numbers": [1, 2],
        "facts": {"x": 1},
    }


def test_a_form_without_a_number_where_one_must_be_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="count"):
        form_arguments(FORM_OPERATION, FieldValues({"count": ["many"]}))
    with pytest.raises(InvalidInputError, match="JSON"):
        form_arguments(FORM_OPERATION, FieldValues({"facts.json": ["{"]}))
    with pytest.raises(InvalidInputError):
        read_fields(b"a=%ff")
    with pytest.raises(InvalidInputError):
        read_fields(b"&".join(b"a=1" for _ in range(6_000)))

"""Draws pages: one Jinja2 environment per language, with the filters that templates use."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from html import escape
from importlib.resources import as_file, files
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from carrel.core.pages import local_address
from carrel.doors.web.assets import StaticFiles
from carrel.doors.web.markdown import render_inline, render_markdown
from carrel.doors.web.messages import Messages

_BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
# In the text that an extract was made of: emphasis, whose stars the extract has escaped, and links
# between notes. A reader wants the words.
_ESCAPED_EMPHASIS = re.compile(r"(?<![\w*])\\\*(?=\S)([^*]{1,200}?)(?<=\S)\\\*(?![\w*])")
_NOTE_LINK = re.compile(r"\[\[(?:[^\[\]|]{1,300}\|)?([^\[\]|]{1,300})\]\]")
_ESCAPED_SIGN = re.compile(r"\\([\\`*_{}\[\]()#+.!<>~|-])")
_DAY = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
_MINUTE, _HOUR, _DAY_SECONDS = 60, 3600, 86400


class PageRenderer:
    """Renders templates of all parts of the console."""

    def __init__(
        self, packages: Sequence[str], assets: StaticFiles, messages: Mapping[str, Messages]
    ) -> None:
        self._stack = ExitStack()
        folders = [
            str(self._stack.enter_context(as_file(files(package) / "templates")))
            for package in packages
        ]
        loader = FileSystemLoader(folders)
        self._environments = {
            language: _environment(loader, assets, texts) for language, texts in messages.items()
        }

    def render(self, language: str, template: str, facts: Mapping[str, object]) -> str:
        return self._environments[language].get_template(template).render(facts)

    def load_all(self) -> None:
        """Compile every template. Raises TemplateSyntaxError for one that cannot be read."""
        for environment in self._environments.values():
            for name in environment.list_templates(extensions=["html"]):
                environment.get_template(name)


def _environment(loader: FileSystemLoader, assets: StaticFiles, texts: Messages) -> Environment:
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
    )
    environment.globals.update(
        t=texts.text,
        language=texts.language,
        asset=assets.address,
        address=local_address,
        has_message=texts.has,
    )
    environment.filters.update(
        snippet=mark_snippet,
        markdown=lambda text, level=2: Markup(render_markdown(text, heading_level=level)),  # noqa: S704
        markdown_line=lambda text: Markup(render_inline(text)),  # noqa: S704
        outside_url=outside_url,
        number=format_number,
        size=format_size,
        day=format_day,
        moment=_moment_filter(texts),
        ago=_ago_filter(texts),
        shorten=shorten_text,
    )
    return environment


def mark_snippet(text: str) -> Markup:
    """An extract of ours, in which matches stand in Markdown bold, with marks instead."""
    pieces = _BOLD.split(_NOTE_LINK.sub(r"\1", _ESCAPED_EMPHASIS.sub(r"\1", text)))
    return Markup(  # noqa: S704 every piece is escaped
        "".join(
            f"<mark>{_plain(piece)}</mark>" if at % 2 else _plain(piece)
            for at, piece in enumerate(pieces)
        )
    )


def _plain(text: str) -> str:
    return escape(_ESCAPED_SIGN.sub(r"\1", text))


def outside_url(text: object) -> str:
    """The address if it is http or https, else nothing: escaping does not stop `javascript:`."""
    given = str(text or "").strip()
    if not given.isprintable():
        return ""
    try:
        parts = urlsplit(given)
    except ValueError:
        return ""
    return given if parts.scheme.lower() in {"http", "https"} and parts.netloc else ""


def format_number(value: float | None) -> str:
    """With narrow spaces between thousands."""
    if value is None:
        return "–"
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
    return text.replace(",", "\N{NARROW NO-BREAK SPACE}")


def format_size(size_bytes: float) -> str:
    """Bytes in the unit that a person reads."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(size_bytes) < 1000:
            return f"{size_bytes:.0f} {unit}" if unit == "B" else f"{size_bytes:.1f} {unit}"
        size_bytes /= 1000
    return f"{size_bytes:.1f} TB"


def format_day(value: object) -> Markup:
    """A date as it is known: a year, a month or a day."""
    found = _DAY.match(str(value or ""))
    if found is None:
        return Markup("<span>–</span>")
    return Markup('<time datetime="{0}">{0}</time>').format(found[0])


def shorten_text(text: str, length: int = 80) -> str:
    """Cut at a word, with an ellipsis."""
    if len(text) <= length:
        return text
    cut = text[:length].rsplit(" ", 1)[0]
    return f"{cut if len(cut) > length // 2 else text[:length]}…"


def _read_moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _time_element(moment: datetime, text: str) -> Markup:
    utc = moment.astimezone(UTC)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        utc.isoformat(timespec="seconds"), utc.strftime("%Y-%m-%d %H:%M:%S UTC"), text
    )


def _moment_filter(texts: Messages) -> Callable[[object], Markup]:
    def moment(value: object) -> Markup:
        found = _read_moment(value)
        if found is None:
            return Markup("<span>–</span>")
        return _time_element(found, found.astimezone(UTC).strftime("%Y-%m-%d %H:%M"))

    return moment


def _ago_filter(texts: Messages) -> Callable[..., Markup]:
    def ago(value: object, now: Any = None) -> Markup:
        """How long ago, within a week; else the day."""
        found = _read_moment(value)
        if found is None:
            return Markup("<span>–</span>")
        seconds = ((now or datetime.now(UTC)) - found).total_seconds()
        if 0 <= seconds < _MINUTE:
            return _time_element(found, texts.text("desk.ago.now"))
        for unit, length, most in (
            ("minutes", _MINUTE, _HOUR),
            ("hours", _HOUR, _DAY_SECONDS),
            ("days", _DAY_SECONDS, 7 * _DAY_SECONDS),
        ):
            if 0 <= seconds < most:
                return _time_element(
                    found, texts.text(f"desk.ago.{unit}", count=int(seconds // length))
                )
        return _time_element(found, found.astimezone(UTC).strftime("%Y-%m-%d"))

    return ago

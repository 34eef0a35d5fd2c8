"""The HTML document of a view, put together from our own modules, style and messages.

A host gives a view no network and takes one document, so script and style stand inline. Modules are
joined in the order in which they import one another; their import and export words are left out.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from carrel.doors.mcp.views.declarations import ViewDeclaration

MEDIA_TYPE = "text/html;profile=mcp-app"
_FOLDER = Path(__file__).parent
# The console's tokens, so that a view in the chat and a page look alike.
_TOKENS = _FOLDER.parents[1] / "web" / "static" / "desk" / "tokens.css"
_SHARED = ("bridge", "answers", "elements", "words", "appearance", "size_reporter", "stage")
_LANGUAGES = ("en", "de")
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) )", re.MULTILINE)
_PLACE = re.compile(r"\{(\w+)\}")


def assemble_document(
    view: ViewDeclaration,
    version: str,
    tools: Mapping[str, Mapping[str, str]],
    opened: Mapping[str, str],
) -> str:
    """The document of a view.

    `tools` says how each operation that it may call is called here, `opened` which operation each
    tool is that opens it.
    """
    frame, style, script = _parts(view)
    messages = {language: _messages(language) for language in _LANGUAGES}
    wanted = {
        language: {key: text for key, text in found.items() if _is_wanted(key, view.name)}
        for language, found in messages.items()
    }
    settings = {"view": view.name, "name": f"carrel-{view.name}", "version": version}
    values = {
        "policy": html.escape(_policy(style, script)),
        "title": html.escape(messages["en"][f"{view.name}.title"]),
        "waiting": html.escape(messages["en"]["waiting"]),
        "style": style,
        "settings": _inline_json({**settings, "tools": tools, "opened": opened}),
        "messages": _inline_json(wanted),
        "script": script,
    }
    return _PLACE.sub(lambda place: values[place[1]], frame)


def content_meta(view: ViewDeclaration) -> dict[str, object]:
    """`_meta` of the contents: no foreign host, a border, and what it asks leave for."""
    ui: dict[str, object] = {"csp": {}, "prefersBorder": True}
    if view.permissions:
        ui["permissions"] = view.permissions
    return {"ui": ui}


@cache
def _join_modules(names: tuple[str, ...]) -> tuple[str, str, str]:
    frame = (_FOLDER / "view.html").read_text(encoding="utf-8")
    tokens = _TOKENS.read_text(encoding="utf-8")
    style = f"\n{tokens}{(_FOLDER / 'view.css').read_text(encoding='utf-8')}"
    modules = [(_FOLDER / "modules" / f"{name}.js").read_text(encoding="utf-8") for name in names]
    script = "\n" + "".join(_EXPORT.sub("", _IMPORT.sub("", module)) for module in modules)
    for part, closing in ((style, "</style"), (script, "</script"), (script, "<!--")):
        if closing in part.lower():
            raise ValueError(f"a part of a view holds {closing}")
    return frame, style, script


def _parts(view: ViewDeclaration) -> tuple[str, str, str]:
    return _join_modules((*_SHARED, *view.modules, f"{view.name}_view"))


@cache
def _messages(language: str) -> dict[str, Any]:
    path = _FOLDER / "messages" / f"{language}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


_VIEW_PREFIXES = ("papers.", "evidence.", "bibliography.", "tournament.", "progress.")


def _is_wanted(key: str, view: str) -> bool:
    """Whether a view shows the message; what stands in no view's part is for all."""
    return not key.startswith(_VIEW_PREFIXES) or key.startswith(f"{view}.")


def _policy(style: str, script: str) -> str:
    """Our own script and style run, by their hashes, and nothing else does."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _inline_json(value: object) -> str:
    """JSON that cannot end its script element."""
    return orjson.dumps(value).decode().replace("<", "\\u003c")

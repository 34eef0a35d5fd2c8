"""The page at /docs: every operation in words, drawn from the catalogue, with a form to try it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from typing import Any

import orjson

from carrel.core.catalogue import Catalogue, Room
from carrel.core.desk_search import DESK_PURPOSE
from carrel.core.jobs import JOBS_PURPOSE
from carrel.core.operation import Operation
from carrel.doors.http import HttpRequest, Response, Route
from carrel.doors.schemas import describe, input_schema

_STYLE = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 0 auto; padding: 1.5rem; }
h1 { margin: 0 } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line) }
code, textarea, pre { font: 13px/1.45 ui-monospace, monospace }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .6rem 0; padding: .5rem .9rem }
summary { cursor: pointer } summary small { opacity: .7 }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .25rem .6rem .25rem 0; vertical-align: top }
textarea { width: 100%; min-height: 5rem; box-sizing: border-box }
pre { overflow: auto; max-height: 24rem; background: color-mix(in srgb, currentColor 6%, transparent); padding: .6rem }
button { font: inherit; padding: .2rem .9rem }
.tag { border: 1px solid var(--line); border-radius: 1rem; padding: 0 .5rem; font-size: 12px }
"""  # noqa: E501

_SCRIPT = """
const bearer = document.getElementById('bearer');
for (const form of document.querySelectorAll('form[data-tool]')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const out = form.querySelector('output');
    out.textContent = 'asking…';
    try {
      const params = JSON.parse(form.querySelector('textarea').value || '{}');
      const answer = await fetch('mcp/invoke', {
        method: 'POST', headers: bearer.value.trim()
          ? {'content-type': 'application/json', authorization: 'Bearer ' + bearer.value.trim()}
          : {'content-type': 'application/json'},
        body: JSON.stringify({tool_name: form.dataset.tool, params}),
      });
      const body = await answer.json();
      const shown = typeof body.result === 'string' ? body.result : JSON.stringify(body, null, 2);
      out.textContent = answer.status + '\\n' + shown;
    } catch (problem) { out.textContent = String(problem); }
  });
}
"""


def description_routes(
    catalogue: Catalogue,
    *,
    name: str,
    version: str,
    public_url: str | None,
    needs_token: bool,
    more_paths: Mapping[str, Any] | None = None,
) -> dict[str, Route]:
    """Routes of the OpenAPI document and this page, both rendered once."""
    page = docs_page(catalogue, name=name, version=version)
    document = describe(
        catalogue,
        name=name,
        version=version,
        public_url=public_url,
        needs_token=needs_token,
        more_paths=more_paths,
    )

    async def openapi(request: HttpRequest) -> Response:
        return Response.json(200, document)

    async def docs(request: HttpRequest) -> Response:
        return Response(200, page.body, page.headers)

    return {"/openapi.json": Route({"GET": openapi}), "/docs": Route({"GET": docs})}


def docs_page(catalogue: Catalogue, *, name: str, version: str) -> Response:
    """The page, with a policy that lets nothing run but its own script."""
    rooms = "".join(_room(room) for room in catalogue.rooms) + _jobs(catalogue) + _desk(catalogue)
    html = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(name)}: '
        f"operations</title>"
        f'<meta name="viewport" '
        f'content="width=device-width"><style>{_STYLE}</style></head><body><header><h1>{escape(name)}</h1>'
        f"<p>Version {escape(version)}. The same operations over MCP at <code>POST /mcp</code>, "
        f"over REST at "
        '<code>POST /mcp/invoke</code> (<a href="openapi.json">OpenAPI</a>) and on the command '
        "line.</p>"
        "<p><label>Token, where the server asks for one: "
        '<input id="bearer" type="password" autocomplete="off" spellcheck="false" '
        'size="40"></label></p></header>'
        f"<main>{rooms}</main><script>{_SCRIPT}</script></body></html>"
    )
    policy = (
        f"default-src 'none'; style-src '{_hash(_STYLE)}'; script-src '{_hash(_SCRIPT)}'; "
        f"connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers = (
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    )
    return Response(200, html.encode(), headers)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _room(room: Room) -> str:
    operations = "".join(_operation(operation) for operation in room.operations)
    resources = "".join(
        f"<tr><td><code>{escape(resource.uri)}</code></td><td>{escape(resource.description)}</td></tr>"
        for resource in room.resources
    )
    shown = f"<h3>Resources</h3><table>{resources}</table>" if resources else ""
    return f"<section><h2>{escape(room.title)}</h2><p>{escape(room.purpose)}</p>{operations}{shown}</section>"  # noqa: E501


def _jobs(catalogue: Catalogue) -> str:
    if catalogue.jobs is None:
        return ""
    operations = "".join(_operation(operation) for operation in catalogue.jobs.tools)
    return f"<section><h2>Jobs</h2><p>{escape(JOBS_PURPOSE)}</p>{operations}</section>"


def _desk(catalogue: Catalogue) -> str:
    if catalogue.desk_search is None:
        return ""
    search = _operation(catalogue.desk_search)
    return f"<section><h2>Desk</h2><p>{escape(DESK_PURPOSE)}</p>{search}</section>"


def _operation(operation: Operation[Any]) -> str:
    schema = input_schema(operation)
    required = set(schema.get("required", ()))
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code>{' (required)' if name in required else ''}</td>"
        f"<td>{escape(_type(field))}</td><td>{escape(str(field.get('description', '')))}</td></tr>"
        for name, field in schema.get("properties", {}).items()
    )
    example = {
        name: _example(field)
        for name, field in schema.get("properties", {}).items()
        if name in required
    }
    scopes = "".join(
        f' <span class="tag">{escape(scope)}</span>' for scope in sorted(operation.scopes)
    )
    return (
        f'<details id="{escape(operation.name)}"><summary><code>{escape(operation.name)}</code> '
        f"<small>{escape(operation.title)}</small></summary><p>{escape(operation.description)}</p>"
        f"<p><span "
        f'class="tag">{escape(operation.effect.value)}</span>{scopes}</p><table>{rows}</table>'
        f'<form data-tool="{escape(operation.name)}"><label>Parameters as JSON<br><textarea '
        f'spellcheck="false">'
        f"{escape(orjson.dumps(example, option=orjson.OPT_INDENT_2).decode())}</textarea></label>"
        f"<button>Ask</button><pre><output></output></pre></form></details>"
    )


def _type(field: dict[str, Any]) -> str:
    if "enum" in field:
        return " | ".join(str(value) for value in field["enum"])
    kind = field.get("type", "")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _example(field: dict[str, Any]) -> object:
    if "enum" in field:
        return field["enum"][0]
    return {
        "string": "",
        "integer": 1,
        "number": 1.0,
        "boolean": False,
        "array": [],
        "object": {},
    }.get(str(field.get("type")), "")

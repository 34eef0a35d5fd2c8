"""The pages for log-in, consent and problems: plain HTML without scripts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape

from carrel.doors.http.messages import Header, Response
from carrel.policy.authorization.models import ClientKind
from carrel.policy.authorization.redirects import display_address, form_action_source
from carrel.policy.authorization.server import AuthorizationRequest
from carrel.policy.scopes import SCOPES

_STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
label { display: block; margin: .8rem 0 .2rem; }
input[type=text], input[type=password] { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem; }
fieldset { margin: 1rem 0; padding: .5rem 1rem 1rem; }
fieldset label { margin: .4rem 0; }
dt { font-weight: 600; }
dd { margin: 0 0 .6rem; overflow-wrap: anywhere; }
button { font: inherit; padding: .5rem 1.2rem; margin: 1rem .6rem 0 0; cursor: pointer; }
.alert { border: 2px solid; padding: .5rem 1rem; }
.quiet { font-size: .9rem; }
"""  # noqa: E501
_STYLE_SOURCE = "sha256-" + base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


def login_page(
    *,
    name: str,
    action: str,
    csrf: str,
    problem: str | None = None,
    user: str = "",
    institute: tuple[str, str] | None = None,
) -> str:
    """Asks for name and password; `institute` is the name and address of another log-in."""
    elsewhere = (
        ""
        if institute is None
        else f'<p><a href="{escape(institute[1])}">Log in with {escape(institute[0])}</a></p>\n'
    )
    alert = f'<p class="alert" role="alert" id="problem">{escape(problem)}</p>' if problem else ""
    described = ' aria-describedby="problem" aria-invalid="true"' if problem else ""
    return _page(
        f"Log in to {name}",
        f"""<h1>Log in to {escape(name)}</h1>
{alert}{elsewhere}<form method="post" action="{escape(action)}">
<input type="hidden" name="csrf" value="{escape(csrf)}">
<input type="hidden" name="action" value="login">
<label for="username">User name</label>
<input type="text" id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required
 value="{escape(user)}"{described}>
<label for="password">Password</label>
<input type="password" id="password" name="password" autocomplete="current-password" required{described}>
<button type="submit">Log in</button>
</form>""",  # noqa: E501
    )


def consent_page(
    request: AuthorizationRequest,
    *,
    name: str,
    action: str,
    csrf: str,
    user: str,
    scopes: Sequence[str],
) -> str:
    """The consent form: the client, its scopes, and the redirect address."""
    client = request.client
    rows = "\n".join(
        f'<label><input type="checkbox" name="scope" value="{escape(scope)}" checked> '
        f"{escape(_meaning(scope))} "
        f'<span class="quiet">({escape(scope)})</span></label>'
        for scope in scopes
    )
    choice = (
        f"<fieldset><legend>It asks to</legend>\n{rows}\n</fieldset>"
        if scopes
        else '<p class="alert" role="alert">It asks for nothing that you may grant.</p>'
    )
    allow = '<button type="submit" name="action" value="allow">Allow</button>' if scopes else ""
    return _page(
        f"Allow {client.name}?",
        f"""<h1>Allow <q>{escape(client.name)}</q> to use {escape(name)} as {escape(user)}?</h1>
<dl>
<dt>Program</dt><dd>{escape(client.name)}{_website(client.website)}<br><span class="quiet">{escape(_about(client.kind))}
 Its id is {escape(client.client_id)}.</span></dd>
<dt>You will be sent back to</dt><dd>{escape(display_address(request.redirect_uri))}</dd>
<dt>Address it wants to use</dt><dd>{escape(request.resource)}</dd>
</dl>
<form method="post" action="{escape(action)}">
<input type="hidden" name="csrf" value="{escape(csrf)}">
{choice}
<p>Allow it only if you started this yourself, just now.</p>
{allow}<button type="submit" name="action" value="deny">Deny</button>
<p class="quiet">You are logged in as {escape(user)}. <button type="submit" name="action" value="logout">Log out</button></p>
</form>""",  # noqa: E501
    )


def problem_page(
    title: str, problem: str, next_step: str, link: tuple[str, str] | None = None
) -> str:
    """An error page with the problem, the next step and a link (its words and its address)."""
    way = "" if link is None else f'\n<p><a href="{escape(link[1])}">{escape(link[0])}</a></p>'
    return _page(
        title,
        f'<h1>{escape(title)}</h1>\n<p class="alert" '
        f'role="alert">{escape(problem)}</p>\n<p>{escape(next_step)}</p>{way}',
    )


def page_response(
    status: int, page: str, *, redirect_uri: str | None = None, headers: tuple[Header, ...] = ()
) -> Response:
    """A page without framing, scripts or caching; its form posts to us and the client only."""
    form_action = "'self'" if redirect_uri is None else f"'self' {form_action_source(redirect_uri)}"
    policy = (
        f"default-src 'none'; style-src '{_STYLE_SOURCE}'; form-action {form_action}; "
        f"frame-ancestors 'none'; base-uri 'none'"
    )
    return Response(
        status,
        page.encode(),
        (
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-security-policy", policy.encode()),
            (b"x-frame-options", b"DENY"),
            (b"x-content-type-options", b"nosniff"),
            # Not no-referrer: browsers then send `Origin: null`, which the origin check refuses.
            (b"referrer-policy", b"same-origin"),
            (b"cache-control", b"no-store"),
            *headers,
        ),
    )


def _page(title: str, body: str) -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def _meaning(scope: str) -> str:
    return SCOPES[scope].meaning if scope in SCOPES else scope


def _website(website: str | None) -> str:
    return f" ({escape(website)})" if website else ""


def _about(kind: ClientKind) -> str:
    match kind:
        case ClientKind.SETTINGS:
            return "The operator of this server knows this program."
        case ClientKind.REGISTERED:
            return "The program gave this name itself; nobody has checked it."
        case ClientKind.DOCUMENT:
            return "The name comes from the document at the address that is its id."

"""Who is at the browser: the local person, a logged-in session, or a token kept in a cookie.

A write needs three things: a page of ours that sends it (Sec-Fetch-Site, else Origin), a token
derived from a cookie that only this browser has, and a caller whom the gate lets through.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace

from carrel.core.caller import Caller
from carrel.core.errors import CarrelError, UnauthenticatedError
from carrel.doors.http.messages import Header, HttpRequest
from carrel.doors.oauth.endpoints import read_cookie, set_cookie
from carrel.policy.authorization.login import DEVICE_SECONDS, SESSION_SECONDS, LoginService
from carrel.policy.gate import Gate
from carrel.policy.scopes import expand_scopes

WEB_CLIENT = "web"
_BROWSER_SECONDS = 30 * 24 * 3600
_OWN_PAGE = b"same-origin"
# The session is the one of the log-in for programs: who is logged in there is so here.
_SESSION, _DEVICE = "carrel-session", "carrel-device"
_TOKEN, _BROWSER = "carrel-token", "carrel-browser"
_NONCE_BYTES = 8
_TOKEN_HEADER = b"x-csrf"


class NotLoggedInError(UnauthenticatedError):
    """No session: a person is sent to the log-in."""

    def __init__(self) -> None:
        super().__init__("You are not logged in", next_step="Log in, then try again.")


class ForeignPageError(CarrelError):
    """A write that a page of ours did not send."""

    code = "origin_not_allowed"

    def __init__(self) -> None:
        super().__init__(
            "Only pages of this server may send this",
            next_step="Open the page of this server and do it there.",
        )


class StaleFormError(CarrelError):
    """A form without the token of this browser."""

    code = "stale_form"

    def __init__(self) -> None:
        super().__init__(
            "This form is too old, or did not come from this browser",
            next_step="Load the page again, then send the form again.",
        )


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser's own secret, from which its form tokens are made; `is_new` asks for a cookie."""

    secret: str
    is_new: bool

    def csrf_token(self, caller: Caller | None) -> str:
        """A token that differs on every page, so that a compressed page does not reveal it."""
        nonce = secrets.token_hex(_NONCE_BYTES)
        return nonce + self._sign(nonce, caller)

    def accepts(self, token: str, caller: Caller | None) -> bool:
        """Whether the token was made for this browser and caller."""
        nonce, signature = token[: 2 * _NONCE_BYTES], token[2 * _NONCE_BYTES :]
        return hmac.compare_digest(signature.encode(), self._sign(nonce, caller).encode())

    def _sign(self, nonce: str, caller: Caller | None) -> str:
        user = "" if caller is None else caller.user_id
        text = f"console|{nonce}|{user}".encode()
        return hmac.new(self.secret.encode(), text, hashlib.sha256).hexdigest()


class BrowserSessions:
    """Recognises browsers. `logins` is there where people log in, here or at an institute."""

    def __init__(
        self,
        gate: Gate,
        *,
        is_local: bool,
        is_secure: bool,
        logins: LoginService | None,
        has_passwords: bool = True,
        institute: str | None = None,
    ) -> None:
        self._gate = gate
        self._logins = logins
        self._is_secure = is_secure
        self.has_passwords = logins is not None and has_passwords
        # What people call the institute at which they log in.
        self.institute = institute
        self.is_local = is_local
        # With it, no other host of the domain can put a cookie in the place of ours.
        self._prefix = "__Host-" if is_secure else ""

    def read(self, request: HttpRequest, name: str) -> str:
        """The value of a cookie of ours, or nothing."""
        return read_cookie(request, self._prefix + name) or ""

    def cookie(self, name: str, value: str, seconds: int) -> Header:
        """The header that keeps a cookie of ours; no seconds forget it."""
        return set_cookie(self._prefix + name, value, seconds=seconds, is_secure=self._is_secure)

    async def identify(self, request: HttpRequest) -> Caller:
        """The caller. Raises NotLoggedInError, or the gate's refusal of a token."""
        visit = request.visit
        if self.is_local or visit.authorization or visit.platform_authorization:
            return await self._gate.identify(visit)
        if self._logins is not None:
            user = await self._logins.find_session_user(self.read(request, _SESSION))
            if user is None:
                raise NotLoggedInError
            return Caller(user.name, expand_scopes(user.scopes), WEB_CLIENT)
        token = self.read(request, _TOKEN)
        if not token:
            raise NotLoggedInError
        return await self._gate.identify(replace(visit, authorization=f"Bearer {token}"))

    def browser(self, request: HttpRequest) -> Browser:
        """The browser's secret, or a new one."""
        kept = self.read(request, _BROWSER)
        if 32 <= len(kept) <= 100 and kept.isascii():
            return Browser(kept, False)
        return Browser(secrets.token_urlsafe(32), True)

    def browser_headers(self, browser: Browser) -> tuple[Header, ...]:
        """The cookie of a new browser."""
        if not browser.is_new:
            return ()
        return (self.cookie(_BROWSER, browser.secret, _BROWSER_SECONDS),)

    def check_write(self, request: HttpRequest, caller: Caller | None, given: str) -> None:
        """Raises ForeignPageError or StaleFormError; `given` is the token of the form or header."""
        check_own_page(request)
        browser = self.browser(request)
        if browser.is_new or not browser.accepts(given, caller):
            raise StaleFormError

    async def log_in(self, request: HttpRequest, name: str, password: str) -> tuple[Header, ...]:
        """The cookies of a new session. Raises LoginRefusedError or RateLimitExceededError."""
        if self._logins is None or not self.has_passwords:
            raise NotLoggedInError
        device, visit = self.read(request, _DEVICE), request.visit
        entered = await self._logins.log_in(
            name, password, visit.address_group, device, visit.user_agent
        )
        return (
            self.cookie(_SESSION, entered.session, int(SESSION_SECONDS)),
            self.cookie(_DEVICE, entered.device, int(DEVICE_SECONDS)),
        )

    async def keep_token(self, request: HttpRequest, token: str) -> tuple[Header, ...]:
        """A cookie that holds the token, once the gate has accepted it."""
        await self._gate.identify(replace(request.visit, authorization=f"Bearer {token}"))
        return (self.cookie(_TOKEN, token, int(SESSION_SECONDS)),)

    async def log_out(self, request: HttpRequest) -> tuple[Header, ...]:
        session = self.read(request, _SESSION)
        if session and self._logins is not None:
            await self._logins.log_out(session)
        # Pictures of papers stay in the browser for a day, but not for whoever comes next.
        forgotten: Header = (b"clear-site-data", b'"cache"')
        return (forgotten, *(self.cookie(name, "", 0) for name in (_SESSION, _TOKEN, _BROWSER)))


def check_own_page(request: HttpRequest) -> None:
    """Refuse a write that another page sends; raises ForeignPageError.

    Browsers tell the site on https and on this machine; elsewhere they send the Origin of a form.
    """
    site = request.headers.get(b"sec-fetch-site")
    if site is not None:
        if site.strip() != _OWN_PAGE:
            raise ForeignPageError
        return
    origin = request.headers.get(b"origin", b"")
    host = request.headers.get(b"host", b"")
    if not host or origin.lower() not in (b"http://" + host.lower(), b"https://" + host.lower()):
        raise ForeignPageError


def check_navigation(request: HttpRequest) -> None:
    """Refuse to be read by another site other than by a link that a person follows."""
    site = request.headers.get(b"sec-fetch-site", b"none").strip()
    if site in (b"none", _OWN_PAGE):
        return
    mode = request.headers.get(b"sec-fetch-mode", b"").strip()
    destination = request.headers.get(b"sec-fetch-dest", b"").strip()
    if mode != b"navigate" or destination != b"document":
        raise ForeignPageError


def header_token(request: HttpRequest) -> str:
    """The token that a module sends."""
    return request.headers.get(_TOKEN_HEADER, b"").decode("latin-1")

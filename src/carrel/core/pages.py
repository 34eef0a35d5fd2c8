"""Pages of the web console: a room declares them, and the web door draws them.

A page asks the catalogue's operations, through the gate, and hands what it was given to a template.
It never sees a store, a framework or HTML.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol
from urllib.parse import quote, urlencode

from carrel.core.answer import Explanation
from carrel.core.caller import Caller
from carrel.core.errors import InvalidInputError

_NOTHING: Mapping[str, object] = MappingProxyType({})


class FieldValues:
    """The fields of a query string or of a form, each with one value or several."""

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self._values = {name: tuple(given) for name, given in values.items()}

    def text(self, name: str, default: str = "") -> str:
        """The last value, without spaces around it."""
        given = self._values.get(name)
        return given[-1].strip() if given else default

    def whole_text(self, name: str) -> str:
        """The last value exactly as it was sent, but with \\n for line ends."""
        given = self._values.get(name)
        return given[-1].replace("\r\n", "\n") if given else ""

    def texts(self, name: str) -> list[str]:
        """Every value that is not empty, without spaces around it."""
        return [value.strip() for value in self._values.get(name, ()) if value.strip()]

    def integer(self, name: str, default: int, *, least: int = 0, most: int = 10**9) -> int:
        """A whole number within bounds, or the default. Raises InvalidInputError."""
        given = self.text(name)
        if not given:
            return default
        try:
            number = int(given[:20])
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            raise InvalidInputError(
                f"{name} must be a whole number from {least} to {most}",
                next_step="Correct the address or the form.",
            )
        return number

    def optional_integer(self, name: str, *, least: int = 0, most: int = 10**9) -> int | None:
        return self.integer(name, 0, least=least, most=most) if self.text(name) else None

    def flag(self, name: str) -> bool:
        """Whether a box was ticked."""
        return self.text(name).lower() in {"1", "on", "true", "yes"}

    def has(self, name: str) -> bool:
        return name in self._values

    def names(self) -> list[str]:
        return list(self._values)

    def items(self) -> list[tuple[str, str]]:
        """Every field with every value, for an address that keeps them."""
        return [(name, value) for name, given in self._values.items() for value in given]


class PageRequest(Protocol):
    """What a page knows: its address, the person, and how to ask the catalogue."""

    @property
    def path(self) -> str: ...

    @property
    def variables(self) -> Mapping[str, str]:
        """The `{names}` of the page's path, decoded."""
        ...

    @property
    def query(self) -> FieldValues: ...

    @property
    def form(self) -> FieldValues:
        """The fields of the form; empty for a page that is only read."""
        ...

    @property
    def caller(self) -> Caller: ...

    @property
    def language(self) -> str:
        """Such as `en`."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether there are no log-ins: one person on their own machine."""
        ...

    def offers(self, operation: str) -> bool:
        """Whether the operation is in the catalogue and this caller may use it."""
        ...

    async def ask(self, operation: str, **arguments: Any) -> Any:
        """The answer of an operation, through the gate. Raises CarrelError."""
        ...

    async def ask_explained(
        self, operation: str, **arguments: Any
    ) -> tuple[Any, Explanation | None]:
        """The answer and, where it has one, its explanation."""
        ...

    def translate(self, key: str, **values: object) -> str:
        """A message in the person's language, such as `translate("papers.added", count=3)`."""
        ...


@dataclass(frozen=True, slots=True)
class PageView:
    """A page to draw: `template` is `<room>/<file>.html`, `facts` are its variables.

    `modules` are ES modules by their address below /assets, such as `papers/reader.js`, and `room`
    is the entry of the navigation to mark where it is not the page's own.
    """

    template: str
    title: str
    facts: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    modules: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    status: int = 200
    room: str | None = None
    # Whether it shows a secret, so that the browser must not keep it.
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class PageRedirect:
    """After a form: go to this local path; `notice` is shown there once."""

    to: str
    notice: str = ""


@dataclass(frozen=True, slots=True)
class PageFile:
    """Bytes for the browser: an image, a tile, or a file to save where `file_name` is given."""

    body: bytes
    media_type: str
    file_name: str = ""
    # Seconds for which the person's own browser may keep it; only for what never changes.
    keep_seconds: int = 0


@dataclass(frozen=True, slots=True)
class PageStream:
    """A file to save that is too large to hold; the browser keeps no copy of its own."""

    pieces: AsyncGenerator[bytes, None]
    media_type: str
    file_name: str
    size_bytes: int | None = None


PageAnswer = PageView | PageRedirect | PageFile | PageStream
DrawPage = Callable[[PageRequest], Awaitable[PageAnswer]]


@dataclass(frozen=True, slots=True)
class ConsolePage:
    """One address of the console.

    `path` is such as `/papers` or `/papers/paper/{paper_id}`; a variable at the end takes the rest
    of the address with its slashes. `act` takes the form that is posted there.
    """

    path: str
    draw: DrawPage | None = None
    act: DrawPage | None = None


@dataclass(frozen=True, slots=True)
class LiveView:
    """Something that changes while it is looked at: an operation that is asked again and again.

    A browser opens `/live/<name>?id=…` and is sent every state that differs from the one before, as
    the JSON of the answer, or of what `summarise` makes of it. It ends after a state for which
    `is_over` is true.
    """

    name: str
    operation: str
    arguments: Callable[[str], Mapping[str, object]]
    is_over: Callable[[Any], bool]
    summarise: Callable[[Any], object] | None = None
    every_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """A line of the navigation; `label` is the key of a message, `icon` an id of icons.svg."""

    path: str
    label: str
    icon: str
    # Shown to callers who may use this operation.
    operation: str


@dataclass(frozen=True, slots=True)
class WaitingItem:
    """What waits for a person: `count` of it, told by a message with that count, at an address."""

    message: str
    count: int
    path: str


@dataclass(frozen=True, slots=True)
class NewItem:
    """Something that happened: shown on the first page with its time (ISO 8601, UTC)."""

    at: str
    title: str
    message: str
    path: str


@dataclass(frozen=True, slots=True)
class HomeShare:
    """A room's share of the first page; a fact is such as ("papers.count", 120, "/papers")."""

    facts: Sequence[tuple[str, int, str]] = ()
    waiting: Sequence[WaitingItem] = ()
    new: Sequence[NewItem] = ()


@dataclass(frozen=True, slots=True)
class RoomPages:
    """A room's part of the console.

    `folder` is the package with `templates/`, `static/` and `messages/`; `find_path` gives the page
    of a hit of the search over the desk (kind, id), and `share` what the first page says of it.
    `marks_words` is true where that page marks the words of the search, given to it as `q`.
    """

    name: str
    folder: str
    pages: tuple[ConsolePage, ...]
    navigation: tuple[NavigationEntry, ...] = ()
    live: tuple[LiveView, ...] = ()
    find_path: Callable[[str, str], str] | None = None
    share: Callable[[PageRequest], Awaitable[HomeShare]] | None = None
    marks_words: bool = False


def _quote_part(part: str) -> str:
    """With its slashes, but where browsers would take `..` out of the address."""
    has_dots = not {".", ".."}.isdisjoint(part.split("/"))
    return quote(part, safe=":@,;=+" if has_dots else "/:@,;=+")


def local_address(path: str, *parts: str, **query: object) -> str:
    """An address of our own: quoted parts after the path, and fields that are not None or empty."""
    address = "/".join((path.rstrip("/"), *(_quote_part(part) for part in parts)))
    fields: list[tuple[str, str]] = []
    for name, value in query.items():
        values = value if isinstance(value, list | tuple) else [value]
        fields += [(name, str(each)) for each in values if each is not None and each != ""]
    return f"{address or '/'}?{urlencode(fields)}" if fields else address or "/"

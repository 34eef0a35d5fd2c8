"""The views of one MCP endpoint, with the names that operations have there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from carrel.core.answer import Text
from carrel.core.caller import Call
from carrel.core.operation import Operation, Resource
from carrel.doors.mcp.views.declarations import VIEWS, ViewDeclaration
from carrel.doors.mcp.views.documents import MEDIA_TYPE, assemble_document, content_meta

_RUNNER = "run_operation"


class EndpointViews:
    """Views of the tools that an endpoint lists.

    `names` are the tools there by operation. One that is not listed is called through
    `run_operation`, because a host may refuse a view the tools that it was never shown.
    """

    def __init__(
        self,
        operations: Iterable[Operation[Any]],
        names: Mapping[str, str],
        is_listed: Callable[[Operation[Any]], bool],
        version: str,
    ) -> None:
        self._operations = {operation.name: operation for operation in operations}
        self._names = names
        self._listed = {name for name, each in self._operations.items() if is_listed(each)}
        self._version = version
        self._views = {
            view.uri: view for view in VIEWS if any(name in self._listed for name in view.draws)
        }
        self._uris = {
            name: view.uri
            for view in self._views.values()
            for name in view.draws
            if name in self._listed
        }
        self._documents: dict[tuple[str, frozenset[str]], str] = {}

    def __bool__(self) -> bool:
        return bool(self._views)

    def find_uri(self, operation: str) -> str | None:
        """The address of the view that draws an operation's answers."""
        return self._uris.get(operation)

    def find_meta(self, uri: str) -> dict[str, object] | None:
        view = self._views.get(uri)
        return None if view is None else content_meta(view)

    def resources(self) -> list[Resource]:
        return [self._resource(view) for view in self._views.values()]

    def _resource(self, view: ViewDeclaration) -> Resource:
        async def read(variables: Mapping[str, str], call: Call) -> Text:
            return Text(self._document(view, call.caller.scopes), MEDIA_TYPE)

        return Resource(
            uri=view.uri,
            name=f"view-{view.name}",
            room="desk",
            title=f"View: {view.name}",
            description="A view for hosts that draw MCP Apps.",
            read=read,
            # It holds no data; what it shows and does is asked for by tools, through the gate.
            scopes=frozenset(),
            media_type=MEDIA_TYPE,
            cost=0.0,
        )

    def _document(self, view: ViewDeclaration, scopes: frozenset[str]) -> str:
        key = (view.name, scopes)
        found = self._documents.get(key)
        if found is None:
            if len(self._documents) > 64:
                self._documents.clear()
            tools = self._routes(view, scopes)
            opened = {self._names[name]: name for name in view.draws if name in self._listed}
            found = assemble_document(view, self._version, tools, opened)
            self._documents[key] = found
        return found

    def _routes(self, view: ViewDeclaration, scopes: frozenset[str]) -> dict[str, dict[str, str]]:
        """How to call each operation that is open here to a caller with these scopes."""
        routes: dict[str, dict[str, str]] = {}
        for name in view.calls:
            operation = self._operations.get(name)
            if operation is None or not operation.scopes <= scopes:
                continue
            if name in self._listed:
                routes[name] = {"name": self._names[name]}
            elif _RUNNER in self._listed:
                routes[name] = {"name": name, "through": _RUNNER}
        return routes

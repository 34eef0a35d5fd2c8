"""Which OAuth addresses there are in each mode, and what each door's challenge names."""

from __future__ import annotations

from carrel.doors.http import Route
from carrel.doors.oauth.metadata import (
    Challenge,
    authorization_server_routes,
    challenge_for,
    protected_resource_routes,
)
from carrel.wiring.access import resource_paths
from carrel.wiring.desk import Desk


def challenge_at(desk: Desk, path: str) -> Challenge:
    """What a refusal at one address says about getting a token for it."""
    return challenge_for(None if desk.access.mode == "local" else f"{desk.settings.base_url}{path}")


def access_routes(desk: Desk) -> dict[str, Route]:
    """The metadata of every resource, and the authorization server where it is built in. None in
    local mode.
    """
    access = desk.access
    if access.mode == "local":
        return {}
    name = desk.settings.server.name
    paths = resource_paths(desk.catalogue)
    routes = protected_resource_routes(
        desk.settings.base_url, paths, desk.catalogue.scopes, access.authorization_servers, name
    )
    built_in = access.built_in
    if built_in is not None:
        from carrel.doors.oauth.authorize import oauth_routes

        routes.update(authorization_server_routes(built_in.server))
        routes.update(
            oauth_routes(built_in.server, built_in.people, built_in.verifier, desk.gate, name)
        )
    return routes

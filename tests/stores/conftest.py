"""A real PostgreSQL for the session, where one can be started."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

import pytest

from tests.stores.postgres_server import NoPostgresError, postgres_server


@pytest.fixture(scope="session")
def postgres_server_url() -> Iterator[str]:
    server = postgres_server()
    try:
        url = server.__enter__()
    except NoPostgresError as reason:
        pytest.skip(str(reason))
    try:
        yield url
    finally:
        server.__exit__(None, None, None)


@pytest.fixture
def postgres_url(postgres_server_url: str) -> Iterator[str]:
    """The address of a database of the test's own."""
    psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    name = f"test_{os.getpid()}_{secrets.token_hex(4)}"
    with psycopg.connect(postgres_server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield f"{postgres_server_url.rpartition('/')[0]}/{name}"
    with psycopg.connect(postgres_server_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

"""A real PostgreSQL for tests of what the room stores."""

from tests.stores.conftest import postgres_server_url, postgres_url

__all__ = ["postgres_server_url", "postgres_url"]

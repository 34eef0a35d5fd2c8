"""The PostgreSQL server of the stores' tests."""

from tests.stores.conftest import postgres_server_url, postgres_url

__all__ = ["postgres_server_url", "postgres_url"]

"""An index in one SQLite file that answers a subset of Elasticsearch's query language."""

from carrel.stores.sqlite.search.engine import EmbeddedSearch
from carrel.stores.sqlite.search.index import STEPS

__all__ = ["STEPS", "EmbeddedSearch"]

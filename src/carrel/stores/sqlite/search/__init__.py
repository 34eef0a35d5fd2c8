"""An index of documents in one SQLite file, which answers a part of Elasticsearch's query
language.
"""

from carrel.stores.sqlite.search.engine import EmbeddedSearch
from carrel.stores.sqlite.search.index import STEPS

__all__ = ["STEPS", "EmbeddedSearch"]

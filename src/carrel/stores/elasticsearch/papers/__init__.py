"""Papers in a real Elasticsearch: filled from a snapshot, and asked by search_papers."""

from carrel.stores.elasticsearch.papers.documents import RankedPapers
from carrel.stores.elasticsearch.papers.ranking import ElasticsearchRanking

__all__ = ["ElasticsearchRanking", "RankedPapers"]

"""Elasticsearch search bodies: the subset answered here, and the allow-list for a real cluster."""

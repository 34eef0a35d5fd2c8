"""Elasticsearch: searched with search bodies, filled from the local stores."""

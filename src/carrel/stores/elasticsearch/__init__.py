"""A real Elasticsearch: asked with search bodies, and filled from the local stores."""

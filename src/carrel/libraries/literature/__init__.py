"""Records of literature services: reading, query translation, merging and ranking. No network."""

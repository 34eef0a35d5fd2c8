"""Papers, their passages and their texts in a cluster: written there, searched, and read."""

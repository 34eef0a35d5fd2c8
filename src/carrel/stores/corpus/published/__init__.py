"""A corpus published to an object store: replicas fetch it, and change it one after another."""

# The note in a corpus folder of what it has in common with a published corpus.
NOTE_NAME = "published.json"

"""The corpus on disk: immutable segments named by their content, and a manifest that lists them."""

# What lies in the folder of a corpus, beside the names of `stores.sqlite.papers`.
MANIFEST_NAME = "manifest.json"
SEGMENTS_NAME = "segments"

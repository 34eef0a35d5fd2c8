"""The search index that is kept beside a library file."""

"""Imports judged by difference from programs that are not ours, which it runs as black boxes."""

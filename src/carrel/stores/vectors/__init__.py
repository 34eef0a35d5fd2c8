"""Vectors kept beside the data that they are made from."""

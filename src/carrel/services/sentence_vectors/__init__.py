"""Texts as vectors that are near each other when they mean alike, from a small model that runs
here.
"""

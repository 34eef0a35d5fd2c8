"""Tests of the query languages."""

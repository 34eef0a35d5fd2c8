"""Measurements beside peers, printed as ratios of one run. Never part of the tests."""

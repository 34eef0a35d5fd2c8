"""Tournaments simulated with judges of known skill: the best of twenty and the whole order."""

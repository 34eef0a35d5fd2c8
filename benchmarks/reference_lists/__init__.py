"""Fits and judges the reading of printed references on entries made by our own CSL engine."""

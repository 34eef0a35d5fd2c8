"""Fits the weights of the research room's safety check, and tells how it does on authors it has not
been fitted to.
"""

"""Builds the product. Only these files know everybody."""

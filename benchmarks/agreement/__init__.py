"""How what we import is compared with what other programs import from the same file."""

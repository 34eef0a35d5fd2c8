"""Ways in, drawn from the catalogue."""

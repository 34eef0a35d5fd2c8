"""Generation of connections by open and closed discovery, and their evolution."""

"""How fast dumps are loaded, in how much memory, and what a corpus of that size costs."""

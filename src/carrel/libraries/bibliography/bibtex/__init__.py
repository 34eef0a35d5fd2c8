"""BibTeX and BibLaTeX, read as they are in the world."""

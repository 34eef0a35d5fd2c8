"""BibTeX and BibLaTeX, read leniently."""

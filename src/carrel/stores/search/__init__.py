"""One full-text index for papers, passages, notes and references: parts, views and ranking."""

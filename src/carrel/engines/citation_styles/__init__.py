"""Citations and bibliographies in any CSL style."""

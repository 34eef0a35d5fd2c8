"""Citations by difference: drawn styles, locales and items, rendered by ours and by citeproc-js."""

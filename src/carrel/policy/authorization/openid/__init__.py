"""Log-in at an institute's OpenID Connect provider, whose groups say what a person may do."""

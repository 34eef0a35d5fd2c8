"""Libraries of references as rows: the store behind the references room where a database is set."""

"""SQL that SQLite and PostgreSQL share; the drivers are in their folders."""

"""Stores on a PostgreSQL server, for more than one machine."""

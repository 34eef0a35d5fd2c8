"""Stores in PostgreSQL, shared by all replicas. Needs the extra `postgres`."""

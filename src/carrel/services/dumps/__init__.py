"""Dumps of literature services: their files, read as streams, and their records as papers."""

"""Backup of all embedded data into one file, and restore."""

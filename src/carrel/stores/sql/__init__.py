"""SQL that SQLite and PostgreSQL both understand, written once; the drivers are in the folders of
the two.
"""

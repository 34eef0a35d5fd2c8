"""The map of a corpus in one SQLite file beside it, replaced by one rename."""

MAP_NAME = "paper_map.db"
# In the workshop of builds; backups leave such names out.
LOCK_NAME = "lock.db.map"
# Changes with the tables; a map of another form is drawn anew.
FORMAT = 1

"""The home folder: its lock, its file modes, its databases and its secret."""

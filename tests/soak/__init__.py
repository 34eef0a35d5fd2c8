"""The soak: a small institute on this machine, whose parts are killed while others write."""

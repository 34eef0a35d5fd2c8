"""RIS, read from any of its dialects and written in the newer one."""

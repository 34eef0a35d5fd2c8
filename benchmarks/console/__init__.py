"""What the web console costs: bytes and time of a first view, memory and lag of live views."""

"""How the CPU time of every parser of foreign input grows with the size of pathological input."""

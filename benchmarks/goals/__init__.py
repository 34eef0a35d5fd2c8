"""How well goals are read: subjects, the answer asked for, constraints, questions back."""

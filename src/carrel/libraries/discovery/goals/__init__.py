"""Reading goals: tokens, term recognition, and the concepts and kind of answer asked for."""

"""Who is calling, may they, how often, and what was done."""

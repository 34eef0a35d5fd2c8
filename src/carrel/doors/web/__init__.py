"""The web console: pages for people, drawn from the catalogue and asked through the gate."""

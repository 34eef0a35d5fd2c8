"""A person's library as one CSL-JSON file that other programs read and write too."""

"""Fast full-text indexes kept beside the data that they are made from."""

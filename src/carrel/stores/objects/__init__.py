"""Objects by name in a folder, S3 or Google Cloud Storage, and registers that change by swaps."""

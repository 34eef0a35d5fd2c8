"""The folder of texts and files beside a snapshot."""

"""The rooms: each has models, operations, service, ports and errors, and none imports another."""

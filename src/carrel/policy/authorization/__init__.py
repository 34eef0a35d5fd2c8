"""The built-in authorization server: users, clients, grants and keys."""

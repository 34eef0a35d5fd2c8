"""The authorization server that is built in for those who have none: people, clients, grants and
keys.
"""

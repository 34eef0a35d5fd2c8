"""Clients of the services that know works by identifier, one file each."""

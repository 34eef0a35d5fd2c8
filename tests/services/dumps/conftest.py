"""A desk for every test of loading."""

from tests.services.dumps.dump_files import desk

__all__ = ["desk"]

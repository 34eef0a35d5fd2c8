"""What holds for every test."""

from hypothesis import settings

# How long an example takes says more of the machine than of the code, and no test here judges time.
settings.register_profile("carrel", deadline=None)
settings.load_profile("carrel")

"""Pure knowledge of the field: no network, no clock, no files but the package's own data."""

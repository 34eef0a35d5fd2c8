"""Libraries that several people share: members with roles, and calls that are about one of them."""

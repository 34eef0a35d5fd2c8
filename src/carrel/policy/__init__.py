"""Identity, authorization, rate limits and the audit log."""

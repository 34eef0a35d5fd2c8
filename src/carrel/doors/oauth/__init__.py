"""OAuth at the HTTP door: metadata, challenges, log-in, consent and token endpoints."""

"""Two minds behind the same agents: discovery in the papers at hand, and language models."""

"""Query languages as data: what people and programs type to search, parsed into plain types."""

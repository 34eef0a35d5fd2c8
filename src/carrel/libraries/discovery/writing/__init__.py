"""Connections as text: titles, rationale, test protocols."""

"""Outputs: in their place whole or not at all, and nothing else touched."""

"""Moves of models into other containers and forms."""

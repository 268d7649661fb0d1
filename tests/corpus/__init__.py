"""Wrappers that the recogniser was not developed on."""

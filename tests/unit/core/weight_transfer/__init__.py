"""Weights placed in the caller's model."""

"""Mirrors unnest/core/keras3/operations."""

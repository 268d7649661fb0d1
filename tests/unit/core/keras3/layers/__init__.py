"""Mirrors unnest/core/keras3/layers."""

"""Mirrors unnest/core/keras3/lambdas/functions."""

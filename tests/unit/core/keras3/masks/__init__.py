"""Tests of `unnest.core.keras3.masks`."""

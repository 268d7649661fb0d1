"""Tests of `unnest.core.keras3.graph`."""

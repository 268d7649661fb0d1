"""Tests of `unnest.core.keras3.keras1`."""

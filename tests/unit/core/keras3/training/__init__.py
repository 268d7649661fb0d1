"""Tests of `unnest.core.keras3.training`."""

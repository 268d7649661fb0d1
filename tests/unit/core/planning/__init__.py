"""Tests of `unnest.core.planning`."""

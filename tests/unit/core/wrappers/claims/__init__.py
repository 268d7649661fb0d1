"""Tests of `unnest.core.wrappers.claims`."""

"""Tests of `unnest.core.wrappers.search`."""

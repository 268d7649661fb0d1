"""Tests of `unnest.core.wrappers.serving_graph`."""

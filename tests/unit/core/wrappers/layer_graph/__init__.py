"""Tests of `unnest.core.wrappers.layer_graph`."""

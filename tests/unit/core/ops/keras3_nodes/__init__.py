"""Tests of operations, a module for each module of `unnest.core.ops`."""

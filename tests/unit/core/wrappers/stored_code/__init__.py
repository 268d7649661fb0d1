"""Tests of `unnest.core.wrappers.stored_code`."""

"""Tests of `unnest.core.byte_code.instructions`."""

"""Unit tests, a module for each module of `unnest` under the same path."""

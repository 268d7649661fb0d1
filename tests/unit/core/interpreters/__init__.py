"""Tests of the interpreters of operations."""

"""Tests of what reads stored byte code."""

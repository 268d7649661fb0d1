"""Tests of `unnest.core.frontends.stored_code_tracer`."""

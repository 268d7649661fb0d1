"""Tests of `unnest.core.frontends.tracing`."""

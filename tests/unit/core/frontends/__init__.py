"""Tests of the readers of operations, a module for each module of `unnest.core.frontends`."""

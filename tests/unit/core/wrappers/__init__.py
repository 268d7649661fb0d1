"""Tests of recognition, a module for each module of `unnest.core.wrappers`."""

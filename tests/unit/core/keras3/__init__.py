"""Tests of the storey for Keras 3."""

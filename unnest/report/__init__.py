"""Rendering what inspect() and fix() return; sees the core alone."""

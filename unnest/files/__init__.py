"""Outputs that are complete or absent: written beside their place, compared, and given their name in one step.

Bytes and names only: nothing here knows a model or a format.
"""

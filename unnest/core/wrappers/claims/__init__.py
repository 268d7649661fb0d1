"""Rows that slices claim to take: the numbers stored for each slice, what they come to, and checks of both by code.

Start at `slice_claims`.
"""

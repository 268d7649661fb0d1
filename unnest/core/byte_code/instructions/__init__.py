"""Carry out instructions on a frame, a module for each kind: jumps, variables, containers, operators and calls.

`machine` calls them; the simplest to start at is `variables_and_modules`.
"""

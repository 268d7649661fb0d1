"""Carry out instructions on a frame: jumps, variables, containers, operators and calls, a module for each."""

"""Weights of a file placed in the model that the caller's own code builds."""

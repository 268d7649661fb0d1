"""Stored code of Lambdas: which rows of its inputs it returns, on which rows its numbers depend, what it names."""

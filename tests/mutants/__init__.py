"""Semantic mutants: genuine wrappers changed so that they may mean something else, judged by what they compute."""

"""Make the parts of a plan for `make_plan`: the rewritten model, weights alone, weights and their architecture.

Start at `rewritten_model`.
"""

"""Search for towers, for layer graphs and serving graphs: match a join's operands, try batches, find mixed rows.

Start at `tower_search`.
"""

"""Divide flat lists of weights, in which a nested model's layers stand one after the other, among these layers.

Start at `divide_flat_list`; `partition_search` tries what names and promises leave open.
"""

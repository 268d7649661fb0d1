"""Place the weights of a file in a model that the caller's own code builds (`load_weights`, `--like`).

Start at `load_into_model`: layers of both models are matched, weights follow. Which weights belong to which layer of
the file is in `weight_assignment`.
"""

"""Place the weights of a file in a model that the caller's own code builds (`load_weights`, `--like`).

Layers of both models are matched, weights follow. Which weights belong to which layer of the file is in
`weight_assignment`.
"""

# stack: k224 keras: keras
from common import *

enc = mlp('encoder')
a, b = Input((6,)), Input((6,))
pre = [Lambda(lambda t: t / 2.)(t) for t in (a, b)]
lookalike(Model([a, b], L.concatenate([enc(p) for p in pre], axis=0)), towers=None, x=data((6,), (6,)), files='weights', template='encoder',
          how='siamese: each of two inputs through a preprocessing Lambda of its own and one encoder, batch concat; weights only + model.json',
          reason='nothing is sliced; the towers read different inputs',
          doubts='by count alone the layer names (2 inputs, 2 Lambdas, 1 model, 1 concatenate) are those of a two-input wrapper with one tower. '
                 'Without model.json either answer keeps the encoder\'s weights; with it, clean',
          extra={'expected_without_architecture': ['clean', 'parallel'], 'expected_with_architecture': 'clean'})

"""The layouts that came with Keras 3: weights keyed by path, alone (`.weights.h5`) or in a `.keras` archive."""

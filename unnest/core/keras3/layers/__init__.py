"""One layer of an older model, with its weights, as Keras 3's: a rule a class, in modules by family."""

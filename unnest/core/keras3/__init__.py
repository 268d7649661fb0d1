"""An older Keras's model as Keras 3 loads it: configs, weights, optimizer, operations and Lambdas, by named rules."""

"""Turn layers, merges and weights of Keras 1 into the words and the order of Keras 2.

Start at `keras1_to_keras2_arguments`.
"""

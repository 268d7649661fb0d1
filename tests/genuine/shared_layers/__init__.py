"""Files of models that share layers, and the script that made them."""

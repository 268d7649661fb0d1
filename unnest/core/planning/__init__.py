"""Parts of a plan (`make_plan`): the rewritten model, weights alone, weights and the architecture given for them."""

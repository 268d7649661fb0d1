"""What operations mean: for shapes, for the rows of a batch, for the dependence of numbers on rows."""

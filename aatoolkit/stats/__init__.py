"""Statistics: ``interval`` gives the confidence interval of a rate."""

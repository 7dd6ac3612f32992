"""Statistics on frames: ``interval`` computes the confidence interval of a rate."""

"""The commands of `mvsim-gym` and what works without a learner."""

"""The commands of `mvsim-gym`, and functions that need no learner."""

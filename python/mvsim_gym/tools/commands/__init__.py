"""The commands of `mvsim-gym`, a module each. `add` adds the arguments of a command that has some. `run` takes their
values."""

"""Lists the parameters that an environment can randomise (`tools/parameters.py`)."""

from mvsim_gym.tools.parameters import Parameter, parameters_of, table_of

__all__ = ["Parameter", "parameters_of", "table_of"]

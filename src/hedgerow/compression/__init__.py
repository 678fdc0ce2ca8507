"""Any fitted model as a small hedgerow model.

- ``compressed``: the function `compress`, and the estimators that it gives;
- ``compressor``: what is made once of a teacher, and what for each limit;
- ``teacher``, ``reading``, ``boosters``, ``sums``: other libraries' models, their predictions and
  their trees;
- ``structure``, ``pruning``, ``refit``: the order in which splits go, and the values of leaves;
- ``generated``, ``imitation``: rows and trees for models whose structure is not to be had.
"""

from hedgerow.compression.compressed import CompressedClassifier, CompressedRegressor, compress

__all__ = ["CompressedClassifier", "CompressedRegressor", "compress"]

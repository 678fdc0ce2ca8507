"""The version of hedgerow, which files of models carry, and where its documentation is."""

__version__ = "0.1.0"
DOCUMENTATION = "https://hedgerow.readthedocs.io/en/stable/"

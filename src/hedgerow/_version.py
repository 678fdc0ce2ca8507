"""The version of hedgerow, which files of models carry."""

__version__ = "0.1.0"

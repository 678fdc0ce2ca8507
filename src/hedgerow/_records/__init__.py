"""Model files: the bytes, the values and the graphs in them. See ``docs/format.md``."""

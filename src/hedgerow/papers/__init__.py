"""One module per paper: its tables and figures, re-run beside the published numbers."""

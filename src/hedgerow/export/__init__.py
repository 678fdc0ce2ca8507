"""Models leave Python: one reader of a model, one writer for each target.

Parts
-----
`program`      a model as columns and steps, whatever language it is written in later
`reading`      any fitted model as a program
`reference`    what a program says, computed with NumPy: the judge of all targets
`arithmetic`   the functions that every target computes alike
`facts`        header, checksum and self-test of an exported file
`columns`      what columns hold, for targets that keep categories as they are
`parts`        the functions of a template that a model needs
`c`            one C header: its steps; `c_graphs` its tests and numbers, `c_text` its tables
`rounding`     leaves in fewer bytes, and what that costs
`javascript`   an ES module
`page`         a web page with sliders around that module
`python`       one file without imports
`onnx`         ONNX: its steps; `onnx_trees` its graphs, `onnx_graph` its operators
`sql`          one query; `sql_dialects` what databases spell differently
`plain_json`   the records of a model file as JSON, and back
`flash`        bytes of a microcontroller's flash, measured by its compiler
`running`      exports in their real runtimes
`targets`      the list of formats, and the check of an export
`words`        names and categories in comments and identifiers: never code
"""

from hedgerow.export.c import to_c
from hedgerow.export.flash import size
from hedgerow.export.javascript import to_javascript
from hedgerow.export.onnx import to_onnx
from hedgerow.export.page import to_html
from hedgerow.export.plain_json import from_json, json_schema, to_json
from hedgerow.export.program import Program
from hedgerow.export.python import to_python
from hedgerow.export.reading import ExportError, read
from hedgerow.export.sql import to_sql
from hedgerow.export.targets import TARGETS, Check, check

__all__ = [
    "TARGETS",
    "Check",
    "ExportError",
    "Program",
    "check",
    "from_json",
    "json_schema",
    "read",
    "size",
    "to_c",
    "to_html",
    "to_javascript",
    "to_json",
    "to_onnx",
    "to_python",
    "to_sql",
]

"""Read a fitted tree or decision graph: as text, as rules, as a picture, and row by row.

`export_text`
    The whole model as indented text.
`rules`
    The whole model as if-then rules, one per leaf.
`explain`
    The path of one row, in words.
`plot`, `export_dot`
    A picture of the model, with matplotlib or for Graphviz.
`overview`
    The parts and importances of any model.
`member`
    One member of a forest, as a model that the others read.
"""

from hedgerow.inspect.dot import export_dot
from hedgerow.inspect.explanation import Explanation, Step, explain
from hedgerow.inspect.members import member
from hedgerow.inspect.parts import overview
from hedgerow.inspect.picture import plot
from hedgerow.inspect.rule_list import Rule, RuleList, rules
from hedgerow.inspect.text import export_text

__all__ = [
    "Explanation",
    "Rule",
    "RuleList",
    "Step",
    "explain",
    "export_dot",
    "export_text",
    "member",
    "overview",
    "plot",
    "rules",
]

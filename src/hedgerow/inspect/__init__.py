"""Read a fitted tree or decision graph: as text, as rules, and row by row.

`export_text`
    The whole model as indented text.
`rules`
    The whole model as if-then rules, one per leaf.
`explain`
    The path of one row, in words.
"""

from hedgerow.inspect.explain import Explanation, Step, explain
from hedgerow.inspect.rules import Rule, RuleList, rules
from hedgerow.inspect.text import export_text

__all__ = ["Explanation", "Rule", "RuleList", "Step", "explain", "export_text", "rules"]

"""The report of a comparison: one HTML file that needs no network.

Made in three steps:

- ``summary``: from the comparison to one plain dict; ``importance``, ``model`` and ``embedding``
  make the parts that fit or read a model;
- ``templates``, ``charts``, ``still``: from the dict to a page, every picture as SVG;
- ``page``: `Report`, which holds both; ``patience``: the time there is for it.
"""

from hedgerow.comparison.report.page import Report
from hedgerow.comparison.report.patience import Patience
from hedgerow.comparison.report.summary import summarise

__all__ = ["Patience", "Report", "summarise"]

"""The exports shown in docs/export.md: ``python docs/export/adult.py``, with HEDGEROW_DATA set.

A decision graph of at most 40 splits, fitted on the official training part of adult, as a header of
C, a query and a web page, each checked on the official test part.
"""

from pathlib import Path

import numpy as np

import hedgerow
from hedgerow.export import TARGETS, check, size
from hedgerow.papers import study

FILES = {"adult.h": ("c", {"numbers": "int32", "leaves": "uint8"}), "adult.html": ("html", {}),
         "adult.sql": ("sql", {"table": "people"})}  # fmt: skip


def main() -> None:
    found = study.read("adult", study.folder())
    y = np.where(
        found.y.to_numpy().astype(str) == np.unique(found.y.astype(str))[1], "rich", "poor"
    )
    train, test = (np.flatnonzero(found.split == part) for part in ("train", "test"))
    model = hedgerow.TreeInTreeClassifier(max_splits=40, random_state=0)
    model.fit(found.X.iloc[train].reset_index(drop=True), y[train])
    rows = found.X.iloc[test].reset_index(drop=True)
    print(f"{model.n_splits_} splits, {100 * (model.predict(rows) == y[test]).mean():.2f} %")
    for file, (to, settings) in FILES.items():
        text = TARGETS[to].write(model, name="adult", **settings)
        Path(__file__).with_name(file).write_text(text, encoding="utf-8")
        if TARGETS[to].run:
            print(file, check(model, to, text, rows, **settings))
    for target in ("cortex-m0", "cortex-m4", "avr"):
        print(target, size(model, target=target, numbers="int32"), "bytes")


if __name__ == "__main__":
    main()

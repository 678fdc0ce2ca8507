"""Every model of hedgerow can be shown, whatever it is made of."""

import json
from itertools import combinations

import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

import hedgerow
from hedgerow import inspect
from hedgerow.cli import main
from hedgerow.comparison import MODELS
from hedgerow.inspect.colours import MIXED, class_colours

IRIS = load_iris(return_X_y=True, as_frame=True)
OURS = [name for name, model in MODELS.items() if model.is_ours]


@pytest.mark.parametrize("name", OURS)
def test_every_model_is_shown_after_it_was_saved(name, tmp_path, capsys):
    X = IRIS[0].assign(kind=pd.Categorical((IRIS[0].iloc[:, 0] > 5).map({True: "a", False: "b"})))
    model = MODELS[name].make("classification").fit(X, IRIS[1])
    text = inspect.overview(model)
    assert text.startswith(f"{type(model).__name__}: 5 features, 3 classes (0, 1, 2)\n")
    assert f"{model.nbytes_:,} bytes" in text
    path = tmp_path / "model.hedgerow"
    hedgerow.save(model, path)
    with pytest.raises(SystemExit) as stop:
        main(["show", str(path)])
    assert stop.value.code in (None, 0)
    assert "petal" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["show", str(path), "--json"])
    record = json.loads(capsys.readouterr().out)
    if hasattr(model, "graph_"):
        assert len(record["graph"]["feature"]) == model.graph_.n_nodes


@pytest.mark.parametrize("stem", ["TreeEmbedding", "TreeNetwork", "CascadeForest", "TreeSum"])
def test_models_of_numbers_are_shown_too(stem):
    X, y = load_diabetes(return_X_y=True)
    text = inspect.overview(MODELS[f"hedgerow {stem}"].make("regression").fit(X, y))
    assert "features, a number" in text
    assert {
        "TreeEmbedding": "anchors",
        "TreeNetwork": "two trees",
        "CascadeForest": "layer 1:",
    }.get(stem, "members") in text


def test_rules_and_explanations_show_themselves_in_a_notebook():
    X, y = IRIS
    X = X.rename(columns={"petal length (cm)": "<b>length</b>"})
    tree = hedgerow.DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    table = inspect.rules(tree)._repr_html_()
    assert table.count("<tr>") == 1 + len(inspect.rules(tree))
    path = inspect.explain(tree, X.iloc[60])._repr_html_()
    assert path.startswith("<ol><li>")
    assert "<b>length" not in table + path


def test_many_classes_have_colours_of_their_own():
    colours = class_colours(26)
    assert len(set(colours)) == 26
    parts = [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in [*colours, MIXED]]
    nearest = min(
        sum(abs(a - b) for a, b in zip(one, other, strict=True))
        for one, other in combinations(parts, 2)
    )
    assert nearest > 20

"""The paper's table and figures come out of the module, and near the published numbers."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from hedgerow.papers import decision_tree_embedding as paper


def test_linear_model_has_the_published_error_on_iris():
    frame, y = load_iris(return_X_y=True, as_frame=True)
    methods = ("DTE-1", "DTE-3")
    found = paper.evaluate(frame, frame.to_numpy(), y.to_numpy(), methods, replicates=3)
    for method, published in zip(methods, paper.TABLE["iris"].errors, strict=False):
        errors, seconds = found[method]
        assert errors.shape == (3,)
        assert abs(errors.mean() - published) < 0.7  # one row of 150
        assert seconds > 0


def test_table_shows_published_and_measured_errors():
    methods = (*paper.METHODS, *paper.OURS)
    results = {"iris": {method: (np.array([1.0, 3.0]), 0.1) for method in methods}}
    text = paper.table(results)
    assert "| iris | 1.9 / 2.0 ± 1.0 | 2.1 / 2.0 ± 1.0 |" in text
    assert "on 1 of 1 sets (not on: none)" in paper.summary(results)


def test_leaf_means_and_oracle_anchors_are_equally_good_in_the_plane(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, ours, oracle = paper.figure_1()
    plt.close(figure)
    assert ours == oracle
    assert ours > 0.9


def test_every_set_of_the_table_loads(data_folder):
    for name in paper.QUICK:
        frame, matrix, y = paper.load(data_folder, name)
        assert len(frame) == len(matrix) == len(y)
        assert np.isfinite(matrix).all()
    assert len(np.unique(paper.load(data_folder, "wholesale")[2])) == 3


def test_missing_data_folder_is_explained():
    with pytest.raises(SystemExit, match="Give the folder of Parquet files with --data"):
        paper.main(["--data", "nowhere"])

"""The report: what is in it, that nothing of the user's data can break it, and its three steps."""

import json
import re
import sys

import numpy as np
import polars as pl
import pytest

import hedgerow
from hedgerow.comparison import Comparison, Data, Result
from hedgerow.comparison.report import Report
from hedgerow.comparison.report.exports import exported
from hedgerow.comparison.report.importance import permutation_importance
from hedgerow.comparison.report.model import describe
from hedgerow.comparison.report.svg import Axis, label_points
from hedgerow.forest.members import take_rows

NASTY = "<script>alert('x')</script>"  # a column, a class and the name of the table "mixed"
SECTIONS = {
    "mixed": [
        "leaderboard",
        "front-latency",
        "model",
        "export",
        "calibration",
        "per-class",
        "importance",
    ],
    "digits": ["leaderboard", "front-splits", "model", "confusion", "embedding", "importance"],
    "diabetes": ["leaderboard", "front-splits", "model", "residuals", "importance"],
}


@pytest.mark.parametrize("name", SECTIONS)
def test_report_has_its_sections(name, report_of):
    html = report_of(name).html()
    assert re.findall(r'data-test="([\w-]+)"', html)
    for section in SECTIONS[name]:
        assert f'data-test="{section}"' in html
    assert ("residuals" in html) == (name == "diabetes")


@pytest.mark.parametrize("name", SECTIONS)
def test_page_is_small_and_needs_no_network(name, report_of):
    html = report_of(name).html()
    assert len(html.encode()) < 600_000
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|img|iframe)\b|@import|url\(", html)


@pytest.mark.parametrize("name", SECTIONS)
def test_the_shown_model_can_be_copied_in_other_languages(name, report_of):
    report = report_of(name)
    texts = {entry["title"]: entry["text"] for entry in report.summary["exports"]}
    assert list(texts) == ["C", "SQL for DuckDB", "Python"]
    if name == "diabetes":  # whose tree has hundreds of weighted sums
        reasons = [entry["reason"] for entry in report.summary["exports"]]
        assert "too many for this page" in reasons[0] and "hedgerow export" in report.html()
        return
    names = {}
    exec(compile(texts["Python"], "model.py", "exec"), names)
    assert names["self_test"]() > 0
    assert len(names["FEATURES"]) == report.summary["data"]["n_features"]
    assert f"<pre{report.html().split('<pre')[1].split('>')[0]}>/* model: " in report.html()


def test_names_and_labels_are_escaped_everywhere(report_of):
    html = report_of("mixed").html()
    assert NASTY not in html
    assert "alert(" in html  # it is there, as text
    scripts = re.findall(r"<script.*?>(.*?)</script>", html, re.DOTALL)
    assert len(scripts) == 2  # the data of the model and the program, nothing more
    assert html.count("<b>blue") == 0
    model = json.loads(scripts[0])
    assert NASTY in [feature["name"] for feature in model["features"]]


@pytest.mark.parametrize("name", SECTIONS)
def test_json_is_the_summary(name, report_of):
    report = report_of(name)
    assert json.loads(report.json()) == report.summary
    assert Report(json.loads(report.json())).html() == report.html()


def test_best_model_is_named_and_what_is_drawn_is_said(report_of, digits):
    summary = report_of("digits").summary
    assert summary["headline"]["best"] == digits.best_result.name == "hedgerow TreeEmbedding"
    assert summary["model"]["name"] == "hedgerow DecisionTree"
    assert "is no single tree or graph" in summary["model"]["why"]


def test_a_tree_that_weighs_many_features_is_drawn_only_where_there_is_no_other(report_of, digits):
    names = ["hedgerow MeanMarginTree", "hedgerow RandomForest", "hedgerow DecisionTree"]
    found = hedgerow.compare(digits.X, digits.y, models=names, cv=2, progress=False)
    ranked = [result.name for result in found.ranked]
    assert ranked[:3] == ["hedgerow RandomForest", *names[::2]]
    model = found.report().summary["model"]
    assert model["name"] == "hedgerow DecisionTree"
    assert model["why"].endswith("this is the best of those that ask for one feature at a time.")
    assert report_of("diabetes").summary["model"]["name"] == "hedgerow MeanMarginTree"


def test_a_member_is_drawn_where_all_models_are_forests(mixed):
    only = hedgerow.compare(
        mixed.X, mixed.y, models=["hedgerow RandomForest"], cv=2, progress=False
    )
    model = only.report().summary["model"]
    assert "first of its members" in model["why"]
    assert model["nodes"][0]["rows"] == len(mixed.y)


def test_numbers_are_those_of_the_comparison(report_of, mixed):
    summary = report_of("mixed").summary
    for row, result in zip(summary["leaderboard"], mixed.results, strict=True):
        assert row["model"] == result.name
        assert row["score"] == pytest.approx(result.mean("accuracy"))
        assert row["splits"] == result.n_splits
    counts = np.array(summary["errors"]["confusion"]["counts"])
    assert np.trace(counts) / counts.sum() == pytest.approx(
        np.mean(mixed.best_result.predictions == mixed.y)
    )
    for front in summary["fronts"]:
        on_front = [p["name"] for p in front["points"] if p["on_front"]]
        assert on_front == mixed.pareto(front["cost"])


def test_a_comparison_without_data_shows_scores_and_costs(digits):
    read = Comparison.from_json(digits.to_json())
    report = read.report()
    assert report.summary["model"] is None
    assert 'data-test="front-bytes"' in report.html()
    assert 'data-test="model"' not in report.html()


def test_models_that_failed_are_listed_with_the_reason():
    done = Result("hedgerow A", "tree", "hedgerow", {"accuracy": [0.5], "log_loss": [1.0]}, [0])
    done.fit_seconds = [0.0]
    failed = Result("hedgerow B", "tree", "hedgerow", error="ran out of <memory>")

    def of(*results):
        of_table = {"classes": ["a", "b"], "feature_names": ["x"], "data": Data(10, 1)}
        return Comparison(
            "classification", results=list(results), n_folds=2, test_ratio=1.0, **of_table
        )

    html = of(failed, done).report().html()
    assert "ran out of &lt;memory&gt;" in html
    nothing = of(failed)
    assert "No model finished a fold with a score." in nothing.report().html()


def test_write_html_leaves_the_old_file_when_it_fails(report_of, tmp_path, monkeypatch):
    report = report_of("diabetes")
    path = tmp_path / "report.html"
    report.write_html(path)
    assert path.read_text(encoding="utf-8") == report.html()
    monkeypatch.setattr(Report, "html", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        report.write_html(path)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert path.stat().st_size > 10_000


def test_notebooks_get_a_frame_of_its_own(report_of):
    shown = report_of("diabetes")._repr_html_()
    assert shown.startswith("<iframe")
    assert shown.count("<") == 2


def test_open_shows_a_written_page(report_of, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    report_of("diabetes").open()
    assert opened[0].startswith("file://")
    assert opened[0].endswith("report.html")


def test_without_jinja2_it_says_what_to_install(report_of, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs jinja2; install it with: pip install"):
        report_of("diabetes").html()


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars"])
def test_importance_tells_signal_from_noise(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = (X[:, 1] > 0).astype(int)
    if kind == "pandas":
        X = pytest.importorskip("pandas").DataFrame(X, columns=list("abc"))
    elif kind == "polars":
        X = pl.DataFrame(X, schema=list("abc"))
    splits = [(np.arange(400), np.arange(400, 600)), (np.arange(200, 600), np.arange(200))]
    models = [
        hedgerow.DecisionTreeClassifier(max_depth=3).fit(take_rows(X, train), y[train])
        for train, _ in splits
    ]
    tests = {fold: test for fold, (_, test) in enumerate(splits)}
    found = permutation_importance(models.__getitem__, X, y, tests, 0, is_classifier=True)
    noise, signal, more_noise = found["drops"].mean(axis=1)
    assert signal > 0.4
    assert max(abs(noise), abs(more_noise)) < 0.05


def test_a_huge_tree_is_cut_to_the_nodes_with_the_most_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9000, 5)), rng.integers(0, 3, 9000)
    tree = hedgerow.DecisionTreeClassifier().fit(X, y)
    found = describe(tree, X, y, None, 0)
    nodes = found["nodes"]
    assert found["total"] == tree.graph_.n_nodes > len(nodes) == 4001
    assert all(child > i for i, node in enumerate(nodes) for child in node["children"])
    assert sum("rest" in node for node in nodes) > 0
    cut = [node["rows"] for node in nodes if "rest" in node]
    opened = [node["rows"] for node in nodes if node["children"]]
    assert max(cut) <= min(opened)


def test_labels_of_points_do_not_overlap():
    points = [(50.0 + 3 * i, 50.0 + i, f"model number {i}") for i in range(8)]
    labels = label_points(points, (0.0, 0.0, 300.0, 200.0))
    assert 2 <= len(labels) <= 8


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("values", [[3.0], [1, 2], [0.0012, 0.0013], [1, 1e6], [5, 80]])
def test_axes_have_a_few_round_ticks_inside(values, log):
    axis = Axis(values, 10, 300, log=log)
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 9
    assert all(10 - 1e-6 <= place <= 300 + 1e-6 for place, _ in ticks)
    assert len({label for _, label in ticks}) == len(ticks)


def test_a_tree_that_no_page_holds_is_not_written_in_other_languages():
    rng = np.random.default_rng(0)
    tree = hedgerow.DecisionTreeClassifier().fit(rng.random((20_000, 3)), rng.random(20_000) < 0.5)
    reasons = [entry["reason"] for entry in exported(tree)]
    assert len(reasons) == 3
    assert all(f"{tree.n_splits_:,} splits, too many for this page" in why for why in reasons)

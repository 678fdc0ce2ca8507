"""scikit-learn's own tests, run on hedgerow's classes: ``python tests/dropin/suites.py -n auto``.

The test modules of the installed scikit-learn run as they are; before they are imported, hedgerow's
estimators take the places of the trees, forests, bags and boosting that they import.

``known_failures.toml`` lists the tests that fail, each with the reason. The list can only grow
shorter: any other failure fails the run, and so does a listed test that passes or that is not there
any more. Tests of scikit-learn's private parts stand there too, and do not count.

This file is the command, and the plugin that pytest loads (``-p suites``).
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import sklearn.ensemble
import sklearn.tree

HERE = Path(__file__).parent
SUITES = [
    "tree/tests/test_tree.py",
    "tree/tests/test_monotonic_tree.py",
    "ensemble/tests/test_forest.py",
    "ensemble/tests/test_bagging.py",
    "ensemble/tests/test_weight_boosting.py",
]
SWAPPED = {
    sklearn.tree: ["DecisionTreeClassifier", "DecisionTreeRegressor"],
    sklearn.ensemble: [
        family + task
        for family in ("RandomForest", "ExtraTrees", "Bagging", "AdaBoost")
        for task in ("Classifier", "Regressor")
    ],
}
PRIVATE = "private: "  # how the reasons of tests that do not count begin

with open(HERE / "known_failures.toml", "rb") as file:
    known = tomllib.load(file)
# Each test's reason, by its whole name, or by that of its function for all its parameters.
REASONS = {test: group["reason"] for group in known["group"] for test in group["tests"]}


def entry_of(nodeid: str) -> str | None:
    """The entry of the list that a test falls under."""
    name = nodeid.removeprefix("sklearn/")
    return next((entry for entry in (name, name.split("[")[0]) if entry in REASONS), None)


def pytest_configure() -> None:
    import hedgerow

    for package, names in SWAPPED.items():
        for name in names:
            setattr(package, name, getattr(hedgerow, name))


def pytest_collection_modifyitems(items: list) -> None:
    for item in items:
        entry = entry_of(item.nodeid)
        if entry is not None:
            item.add_marker(pytest.mark.xfail(reason=REASONS[entry], strict=True))


def pytest_sessionfinish(session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(session.config, "workerinput"):
        return  # a worker of a run that is shared out
    failed_as_known = reporter.stats.get("xfailed", [])
    gone = set(REASONS) - {entry_of(report.nodeid) for report in failed_as_known}
    chosen = session.config.option.keyword or session.config.option.maxfail
    if gone and not chosen and not reporter.stats.get("failed"):
        reporter.write_line(f"\nlisted, but not there: {sorted(gone)}", red=True)
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter) -> None:
    stats = terminalreporter.stats
    known_to_fail = stats.get("xfailed", [])
    private = sum(report.wasxfail.startswith(PRIVATE) for report in known_to_fail)
    passed, skipped = len(stats.get("passed", [])), len(stats.get("skipped", []))
    counted = passed + len(known_to_fail) - private + len(stats.get("failed", []))
    terminalreporter.write_line(
        f"scikit-learn {sklearn.__version__}: {passed} of {counted} tests pass "
        f"({passed / max(1, counted):.1%}); {private} of private parts and {skipped} skipped "
        f"do not count (the list was made with {known['scikit-learn']})"
    )


def main() -> int:
    top = Path(sklearn.__file__).parent
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "suites"]
    command += ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(top), "-W", "ignore"]
    environment = os.environ | {"PYTHONPATH": str(HERE)}
    return subprocess.call([*command, *sys.argv[1:], *SUITES], cwd=top, env=environment)


if __name__ == "__main__":
    sys.exit(main())

"""Flash: sizes measured by real cross compilers, and the self-test on an emulated processor."""

import re
import shutil

import numpy as np
import pytest
from export.models import example
from sklearn.datasets import load_iris

import hedgerow
from hedgerow.export import size, to_c
from hedgerow.export.flash import CHIPS, emulated
from hedgerow.export.running import RuntimeMissingError

MODELS = ["tree-in-tree-classifier", "decision-tree-regressor", "several numbers",
          "binary boosting", "random-forest-classifier"]  # fmt: skip


def needs(tool):
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")


@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize("name", MODELS)
def test_sizes_are_measured_for_every_processor(name, target):
    needs(CHIPS[target].compiler)
    model, _ = example(name)
    settings = {"leaves": "float"} if name in ("several numbers", "binary boosting") else {}
    found = size(model, "c", target=target, **settings)
    assert 20 < found < 20_000
    assert size(model, "c", target=target, **settings) == found


def test_fewer_tests_and_smaller_leaves_take_less():
    needs("arm-none-eabi-gcc")
    X, y = load_iris(return_X_y=True)
    small, large = (hedgerow.DecisionTreeClassifier(max_leaf_nodes=n).fit(X, y) for n in (3, 8))
    sizes = [size(model, numbers="ranks") for model in (small, large)]
    assert sizes[0] < sizes[1] < size(large, numbers="ranks", leaves="float")
    assert size(large, numbers="int16") < size(large, numbers="float")


def test_a_model_keeps_a_limit_of_flash():
    needs("arm-none-eabi-gcc")
    X, y = load_iris(return_X_y=True)
    X = np.rint(10 * X)
    models = ["hedgerow DecisionTree", "hedgerow TreeInTree"]
    model = hedgerow.fit_within(X, y, max_flash_bytes=160, models=models, random_state=0)
    assert size(model, numbers="int32") <= 160 and model.held_out_.score > 0.9
    with pytest.raises(ValueError, match="max_flash_bytes=8"):
        hedgerow.fit_within(X, y, max_flash_bytes=8, models=models)


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(RuntimeMissingError, match="install gcc-arm-none-eabi"):
        size(example("binary tree")[0])


def test_what_has_no_size_is_refused():
    model, _ = example("binary tree")
    with pytest.raises(ValueError, match="'to' must be 'c', got 'onnx'."):
        size(model, "onnx")
    with pytest.raises(ValueError, match="'target' must be one of cortex-m0, cortex-m4, avr"):
        size(model, target="z80")


@pytest.mark.parametrize("name", MODELS)
def test_the_self_test_is_right_on_an_emulated_cortex(name):
    needs("arm-none-eabi-gcc")
    needs("qemu-system-arm")
    text = to_c(example(name)[0], numbers="float", leaves="double")
    assert emulated(text) == 0
    broken = re.sub(r"(answers\[\] = \{\n  )", r"\g<1>7.0, ", text)
    assert emulated(broken) > 0

"""JSON: the records of a model file as a text, and back."""

import json

import numpy as np
import pytest
from export.models import example, hostile_model
from small_models import answers, fitted

import hedgerow
from hedgerow.export import ExportError, from_json, json_schema, to_json
from hedgerow.storage import MODELS


@pytest.mark.parametrize("name", MODELS)
def test_every_model_comes_back_bit_by_bit(name):
    model, X = fitted(name)
    text = to_json(model)
    again = from_json(text)
    assert to_json(again) == text and text.isascii()
    for method, said in answers(model, X).items():
        assert np.array_equal(said, answers(again, X)[method])


@pytest.mark.parametrize("name", ["tree-in-tree-classifier", "cascade-forest-classifier"])
def test_what_is_written_keeps_the_schema(name):
    jsonschema = pytest.importorskip("jsonschema")
    table = json.loads(to_json(fitted(name)[0]))
    jsonschema.validate(table, json_schema())
    table["arrays"][0]["type"] = "f16"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(table, json_schema())


def test_numbers_that_json_lacks_come_back():
    X = np.array([[np.nan], [1.0], [np.nan], [2.0]])
    model = hedgerow.DecisionTreeClassifier().fit(X, [0, 1, 0, 1])
    text = to_json(model, indent=1)
    assert '"inf"' in text and "NaN" not in text and "Infinity" not in text
    assert from_json(text).predict(X).tolist() == [0, 1, 0, 1]


def test_any_text_comes_back():
    model = hostile_model()
    again = from_json(to_json(model, name='"\n\0'))
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()


def changed(text, change):
    table = json.loads(text)
    change(table)
    return json.dumps(table)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.pop("arrays"), "no object with arrays"),
        (lambda t: t.update(format=2), "its format is 2, not 1"),
        (lambda t: t["arrays"][0].update(type="f16"), "array 0 has the type 'f16'"),
        (lambda t: t["arrays"][0].update(shape=[-1]), "array 0 has the shape"),
        (lambda t: t["arrays"][0]["items"].append(0), "array 0 has not as many items"),
        (lambda t: t["arrays"][0]["items"].__setitem__(0, "x"), "array 0 has an item that is no"),
        (lambda t: t["arrays"][0].pop("items"), "array 0 lacks its type, shape or items"),
        (lambda t: t["records"].pop(), "hedgerow"),
        (lambda t: t["records"][-1].__setitem__(0, "os.system"), "hedgerow"),
        (lambda t: t.pop("records"), "hedgerow"),
    ],
)
def test_what_was_changed_is_refused_with_a_reason(change, reason):
    text = to_json(example("binary tree")[0])
    with pytest.raises(ValueError, match="the JSON is no model of hedgerow") as error:
        from_json(changed(text, change))
    assert reason in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "NaN", b"\xff", '{"arrays": [NaN]}'])
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match="the JSON is no model of hedgerow"):
        from_json(text)


def test_other_models_are_refused():
    with pytest.raises(ExportError, match="only hedgerow's models can be saved"):
        to_json(object())

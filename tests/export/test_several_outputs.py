"""Models of several outputs: one output is read at a time, and all targets say what it is."""

from functools import cache

import numpy as np
import pytest
from export.models import SEVERAL, example

from hedgerow.export import TARGETS, ExportError, check, read, to_c

fitted = cache(lambda name: SEVERAL[name]())


@pytest.mark.parametrize("to", [to for to, target in TARGETS.items() if target.run])
@pytest.mark.parametrize("name", SEVERAL)
def test_each_output_of_classes_is_a_file_of_its_own(name, to):
    model, X = fitted(name)
    settings = {"numbers": "double"} if to == "onnx" else {}
    for output in (0, 1):
        source = model if to == "json" else read(model, output=output)
        content = TARGETS[to].write(source, **settings)
        assert check(model, to, content, X, output=output, **settings).different == 0


def test_one_of_several_numbers_can_be_read_alone():
    model, X = example("several means")
    content = to_c(read(model, output=2))
    assert "double *p" not in content
    assert check(model, "c", content, X, output=2).different == 0
    assert check(model, "c", to_c(model), X).different == 0


def test_an_output_that_is_not_said_or_is_none_is_refused():
    model, _ = fitted("tree")
    with pytest.raises(ExportError, match="classes of 2 outputs.*output=0.*--output 0"):
        to_c(model)
    for output in (2, -1, True, "a", np.nan):
        with pytest.raises(ValueError, match="'output' must be an int from 0 to 1"):
            read(model, output=output)
    program = read(model, output=1)
    assert program.outputs[0].classes == ("a", "b") and program.output == 1

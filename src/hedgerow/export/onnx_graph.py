"""Operators and tensors of ONNX, put together."""

from typing import Any

import numpy as np

from hedgerow.export.reading import ExportError


class Tensor:
    """A named result; ``width``: its columns."""

    def __init__(self, name: str, width: int = 0) -> None:
        self.name, self.width = name, width


class Builder:
    """A graph of ONNX as it grows. Constants are kept once."""

    _OPSET = 17
    _IR = 9

    def __init__(self, ml_opset: int) -> None:
        try:
            import onnx
        except ImportError:
            raise ExportError("ONNX needs the package onnx: pip install hedgerow[onnx].") from None
        self._onnx, self._ml_opset = onnx, ml_opset
        self._nodes: list[Any] = []
        self._constants: dict[Any, Any] = {}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._n = 0

    def _type(self, name: str) -> int:
        return getattr(self._onnx.TensorProto, name.upper())

    def _named(self, given: Any) -> str:
        """The name of a tensor, or of an array as a constant."""
        if isinstance(given, Tensor):
            return given.name
        array = np.asarray(given)
        is_text = array.dtype == object
        key = (array.dtype.str, array.shape, str(array.tolist()) if is_text else array.tobytes())
        if key not in self._constants:
            name = f"constant_{len(self._constants)}"
            if is_text:
                texts = [text.encode("utf-8") for text in array.ravel()]
                made = self._onnx.helper.make_tensor(name, self._type("string"), array.shape, texts)
            else:
                made = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
            if not array.shape:
                made.ClearField("dims")
            self._constants[key] = made
        return self._constants[key].name

    def _fresh(self) -> str:
        self._n += 1
        return f"t{self._n}"

    def op(self, operator: str, *inputs: Any, **attributes: Any) -> Tensor:
        return self.ops(operator, 1, *inputs, **attributes)[0]

    def ops(self, operator: str, n: int, *inputs: Any, **attributes: Any) -> list[Tensor]:
        """The results of an operator."""
        if operator == "Cast":
            attributes["to"] = self._type(attributes["to"])
        out = [self._fresh() for _ in range(n)]
        names = [self._named(given) for given in inputs]
        self._nodes.append(self._onnx.helper.make_node(operator, names, out, **attributes))
        return [Tensor(name) for name in out]

    def tree(self, attributes: dict[str, Any], matrix: Tensor) -> Tensor:
        """Trees of ai.onnx.ml; arrays among the attributes become tensors."""
        made = {
            key: self._onnx.numpy_helper.from_array(value, key)
            if isinstance(value, np.ndarray)
            else value
            for key, value in attributes.items()
        }
        return self.op(made.pop("operator"), matrix, domain="ai.onnx.ml", **made)

    def input(self, name: str, kind: str, width: int) -> Tensor:
        info = self._onnx.helper.make_tensor_value_info(name, self._type(kind), ["n", width])
        self._inputs.append(info)
        return Tensor(name, width)

    def output(self, name: str, tensor: Tensor, kind: str, width: int | None) -> None:
        self._nodes.append(self._onnx.helper.make_node("Identity", [tensor.name], [name]))
        shape: list[str | int | None] = ["n"] if width is None else ["n", width]
        info = self._onnx.helper.make_tensor_value_info(name, self._type(kind), shape)
        self._outputs.append(info)

    def content(self, name: str, facts: dict[str, str]) -> bytes:
        """The file."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, name, self._inputs, self._outputs, list(self._constants.values())
        )
        opsets = [
            helper.make_opsetid("", self._OPSET),
            helper.make_opsetid("ai.onnx.ml", self._ml_opset),
        ]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="hedgerow")
        model.ir_version = self._IR
        helper.set_model_props(model, facts)
        return model.SerializeToString()

"""Models as files: `save` and `load`.

A model file holds data only: reading one runs no code out of it, unlike a pickle. It names records
of an explicit list, the one below, whose fields are read one by one and checked; graphs are
validated by the engine before they are used. It is the same, byte for byte, for the same model.
``docs/format.md`` describes every byte.

A model that holds objects of other libraries (a bag of scikit-learn estimators, say) cannot be
saved so, and is refused: pickle it, and load the pickle only where you trust its origin.
"""

from pathlib import Path
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hedgerow._estimator import Estimator
from hedgerow._files import replacing
from hedgerow._reading import ColumnReading, TableReading
from hedgerow._records import container, graphs, schemas
from hedgerow._records.models import model_codec, part_codec
from hedgerow._records.values import Codec, Reader, Writer
from hedgerow._version import __version__
from hedgerow.additive import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    TreeSumClassifier,
    TreeSumRegressor,
)
from hedgerow.cascade import (
    CascadeForestClassifier,
    CascadeForestRegressor,
    MultiGrainedScanner,
    TreeNetworkClassifier,
    TreeNetworkRegressor,
    layers,
)
from hedgerow.cascade.scanning import Grain
from hedgerow.compression import CompressedClassifier, CompressedRegressor
from hedgerow.embedding import LeafMeansEmbedding, TreeEmbeddingClassifier, TreeEmbeddingRegressor
from hedgerow.embedding.blending import Blend
from hedgerow.embedding.layer import AnchorLayer
from hedgerow.embedding.numeric import NumericView
from hedgerow.embedding.regions import CutTree
from hedgerow.forest import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HeterogeneousForestClassifier,
    HeterogeneousForestRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesClassifier,
    RandomTreesRegressor,
)
from hedgerow.forest.draws import Draws
from hedgerow.graph import (
    NaiveDecisionGraphClassifier,
    TreeInTreeClassifier,
    TreeInTreeRegressor,
)
from hedgerow.tree import (
    CentredTreeNetworkRegressor,
    CentredTreeRegressor,
    CrossValidatedTreeClassifier,
    CrossValidatedTreeRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MeanMarginTreeClassifier,
    MeanMarginTreeRegressor,
    TAOTreeClassifier,
    TAOTreeRegressor,
)

# The names in files stay, whatever becomes of the classes' own names.
MODELS: dict[str, type[Estimator]] = {
    "decision-tree-classifier": DecisionTreeClassifier,
    "decision-tree-regressor": DecisionTreeRegressor,
    "mean-margin-tree-classifier": MeanMarginTreeClassifier,
    "mean-margin-tree-regressor": MeanMarginTreeRegressor,
    "tao-tree-classifier": TAOTreeClassifier,
    "tao-tree-regressor": TAOTreeRegressor,
    "cross-validated-tree-classifier": CrossValidatedTreeClassifier,
    "cross-validated-tree-regressor": CrossValidatedTreeRegressor,
    "centred-tree-regressor": CentredTreeRegressor,
    "centred-tree-network-regressor": CentredTreeNetworkRegressor,
    "tree-in-tree-classifier": TreeInTreeClassifier,
    "tree-in-tree-regressor": TreeInTreeRegressor,
    "naive-decision-graph-classifier": NaiveDecisionGraphClassifier,
    "random-forest-classifier": RandomForestClassifier,
    "random-forest-regressor": RandomForestRegressor,
    "extra-trees-classifier": ExtraTreesClassifier,
    "extra-trees-regressor": ExtraTreesRegressor,
    "random-trees-classifier": RandomTreesClassifier,
    "random-trees-regressor": RandomTreesRegressor,
    "bagging-classifier": BaggingClassifier,
    "bagging-regressor": BaggingRegressor,
    "ada-boost-classifier": AdaBoostClassifier,
    "ada-boost-regressor": AdaBoostRegressor,
    "gradient-boosting-classifier": GradientBoostingClassifier,
    "gradient-boosting-regressor": GradientBoostingRegressor,
    "heterogeneous-forest-classifier": HeterogeneousForestClassifier,
    "heterogeneous-forest-regressor": HeterogeneousForestRegressor,
    "leaf-means-embedding": LeafMeansEmbedding,
    "tree-embedding-classifier": TreeEmbeddingClassifier,
    "tree-embedding-regressor": TreeEmbeddingRegressor,
    "cascade-forest-classifier": CascadeForestClassifier,
    "cascade-forest-regressor": CascadeForestRegressor,
    "multi-grained-scanner": MultiGrainedScanner,
    "tree-network-classifier": TreeNetworkClassifier,
    "tree-network-regressor": TreeNetworkRegressor,
    "tree-sum-classifier": TreeSumClassifier,
    "tree-sum-regressor": TreeSumRegressor,
    "compressed-classifier": CompressedClassifier,
    "compressed-regressor": CompressedRegressor,
}
_CODECS: list[Codec] = [
    *graphs.CODECS,
    *schemas.CODECS,
    *layers.CODECS,
    part_codec("layer-folds", layers.FoldedMember),
    part_codec("windows", Grain),
    part_codec("draws", Draws),
    part_codec("column-reading", ColumnReading),
    part_codec("reading", TableReading),
    part_codec("anchor-layer", AnchorLayer),
    part_codec("cut-tree", CutTree),
    part_codec("numbers", NumericView),
    part_codec("blend", Blend),
    *(model_codec(name, cls) for name, cls in MODELS.items()),
]
_BY_TYPE = {codec.type: codec for codec in _CODECS}
_BY_NAME = {codec.name: codec for codec in _CODECS}


def content_of(model: Any) -> container.Content:
    """What a file of a fitted model holds: records, and the arrays that they refer to."""
    if type(model) not in MODELS.values():
        raise TypeError(
            f"only hedgerow's models can be saved, got an object of {type(model).__module__}."
            f"{type(model).__name__}; pickle it, or use its own library."
        )
    check_is_fitted(model)
    writer = Writer(_BY_TYPE)
    writer.record(model, type(model).__name__)
    return container.Content({"records": writer.records}, writer.arrays, __version__)


def save(model: Any, path: Any) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of hedgerow whose parts are hedgerow's too.
    path : path-like
        By custom it ends in ``.hedgerow``.

    See Also
    --------
    load : Read it again.

    Examples
    --------
    >>> import hedgerow, tempfile, os
    >>> tree = hedgerow.DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> path = os.path.join(tempfile.mkdtemp(), "tree.hedgerow")
    >>> hedgerow.save(tree, path)
    >>> hedgerow.load(path).predict([[0.9]])
    array(['yes'], dtype='<U3')
    """
    content = content_of(model)
    with replacing(path) as file:
        container.write(file, content.description, content.arrays, content.version)


def load(path: Any) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    model : estimator

    See Also
    --------
    save : Write it.
    """
    name = Path(path).name
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no model file '{path}'.")
    data = Path(path).read_bytes()
    version = ""
    try:
        content = container.read(data)
        version = content.version
        model = model_of(content)
    except container.OtherFormatError as error:
        raise ValueError(f"{name} {error}") from None
    except MemoryError:  # of a large model: a small file cannot take much
        raise
    except Exception as error:  # whatever bytes that were changed lead to
        reason = str(error) or type(error).__name__
        hint = ""
        if version and container.is_newer(version, __version__):
            hint = f" It was written by hedgerow {version}, a later version than this one."
        raise ValueError(
            f"{name} is damaged or no model file of hedgerow: {reason.rstrip('.')}.{hint}"
        ) from None
    return model


def model_of(content: container.Content) -> Estimator:
    """The model of a file; anything wrong raises an error of some kind."""
    records = content.description.pop("records", None)
    if content.description:
        container.damaged("it describes more than records and arrays")
    model = Reader(_BY_NAME, records, content.arrays).last
    if type(model) not in MODELS.values():
        container.damaged("it holds no model")
    try:
        check_is_fitted(model)
    except NotFittedError:
        container.damaged("its model was not fitted")
    return model

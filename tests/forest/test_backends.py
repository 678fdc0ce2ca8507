"""Bags on a cluster: joblib's back ends for Dask and Ray fit the same members as this process."""

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from hedgerow import BaggingClassifier, RandomForestClassifier

X, Y = load_iris(return_X_y=True)


@pytest.fixture
def dask():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        yield


@pytest.fixture
def ray():
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.util.joblib").register_ray()
    ray.init(num_cpus=2, include_dashboard=False)
    with joblib.parallel_config(backend="ray"):
        yield
    ray.shutdown()


# joblib's own dictionary of what it has sent forgets some of it twice.
@pytest.mark.filterwarnings("ignore:.*_WeakKeyDictionary:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("cluster", ["dask", "ray"])
@pytest.mark.parametrize(
    "member", [GaussianNB(), RandomForestClassifier(3)], ids=["scikit-learn's", "hedgerow's"]
)
def test_bag_is_the_same_on_a_cluster(cluster, member, request):
    bag = BaggingClassifier(member, n_estimators=4, n_jobs=2, random_state=0)
    here = bag.fit(X, Y).predict_proba(X)
    request.getfixturevalue(cluster)
    np.testing.assert_array_equal(bag.fit(X, Y).predict_proba(X), here)


def test_members_are_fitted_by_dask_workers(dask):
    class Witness(ClassifierMixin, BaseEstimator):
        """Asks for the worker it is fitted in; outside of a cluster that is an error."""

        def fit(self, X, y):
            from distributed import get_worker

            self.worker_ = get_worker().name
            self.classes_ = np.unique(y)
            return self

    bag = BaggingClassifier(Witness(), n_estimators=3, n_jobs=2, random_state=0).fit(X, Y)
    assert len({member.worker_ for member in bag.estimators_}) == 1

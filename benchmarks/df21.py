"""One fit of DF21's cascade; run by the interpreter of an environment that has `deep-forest`.

    python df21.py data.npz seed

The file has X_train, y_train, X_test and y_test; the answer is one line of JSON.
"""

# ruff: noqa: E402 (the limits must be set before the imports)

import json
import os
import pickle
import sys
import time

for _name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"

import numpy as np
from deepforest import CascadeForestClassifier


def resident(entry):
    """A line of /proc/self/status in bytes."""
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(entry))


def make(seed):
    return CascadeForestClassifier(n_jobs=1, random_state=seed, verbose=0)


def main():
    data = np.load(sys.argv[1])
    X, y = data["X_train"], data["y_train"]
    sample = np.random.default_rng(0).choice(len(y), min(1000, len(y)), replace=False)
    make(0).fit(X[sample], y[sample])  # imports and first-call set-up are not what is measured
    before = resident("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    model = make(int(sys.argv[2]))
    start, start_cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    fit, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    memory = resident("VmHWM") - before
    start = time.perf_counter()
    predicted = model.predict(data["X_test"])
    answer = {
        "fit": fit,
        "cpu": cpu,
        "cores": cpu / fit,
        "memory": memory,
        "predict": time.perf_counter() - start,
        "score": 100 * float(np.mean(predicted == data["y_test"])),
        "layers": model.n_layers_,
        "grown": min(model.n_layers_ + model.n_tolerant_rounds, model.max_layers),
        "pickle": len(pickle.dumps(model, protocol=5)),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()

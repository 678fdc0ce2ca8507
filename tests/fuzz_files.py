"""Mutated model files: each must be refused by a clear error, or load as a model that works.

    python tests/fuzz_files.py --n 100000 --seed 1 [--keep FOLDER]

Seeds are files of every estimator, on a frame with categories and missing values and on an array.
A mutant is a file with flipped bits, cut or spliced, or, more often, one whose content was changed
and wrapped again with a right checksum: items of arrays, entries of the list of arrays, any value
of the JSON. Mutant i of a seed is always the same. They are loaded and used in forked processes
with limits of memory and time; the script ends with 1 if any of them crashed, hung, raised
something else than it should or gave probabilities that are none. ``--keep`` writes those files.
"""

import argparse
import collections
import contextlib
import copy
import json
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from small_models import numbers, small, table, targets

import hedgerow
from hedgerow.storage import MODELS

HEADER = struct.Struct("<8sHHIQ16s")
ODD = [None, True, False, 0, 1, -1, 2, 3, 7, 255, 2**31, 2**32, 2**63, 10**40, 0.5, -1e308, 1e-320,
       "", "a", "gini", "auto", "\ud800", [], [1], [[]], {}, {"float": "nan"}, {"float": "inf"},
       {"tuple": []}, {"dict": []}, {"dict": [["a", 1]]}, {"scalar": ["f8", 0.5]},
       {"texts": [[1], ["a"]]}, {"items": [[1], [None]]}]  # fmt: skip
TYPES = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "V8", "O"]
NUMBERS = [0, 1, 2, 3, 64, 127, 255, -1, -2, np.nan, np.inf, -np.inf, 1e300, 2**31, 2**32 - 1, 0.5]


def seeds(folder: Path) -> dict[str, bytes]:
    """Files by their names."""
    files = {}
    for name, cls in MODELS.items():
        for kind, X in (("frame", table()), ("array", numbers())):
            model = small(cls)
            if hasattr(model, "shape") and kind == "frame":
                continue
            with contextlib.suppress(ValueError):  # some take numbers only
                model.fit(X, targets(model, X))
                hedgerow.save(model, folder / "seed")
                files[f"{name} {kind}"] = (folder / "seed").read_bytes()
    return files


class Content:
    """The content of a file, taken apart."""

    def __init__(self, data: bytes) -> None:
        _, _, how, text_size, _, _ = HEADER.unpack_from(data)
        content = data[HEADER.size : -4]
        content = zlib.decompress(content, wbits=-15) if how else content
        self.description = json.loads(content[:text_size])
        self.arrays, at = [], text_size
        for _, stored, shape, *_ in self.description["arrays"]:
            item = np.dtype("<" + stored)
            at += -at % item.itemsize
            self.arrays.append(np.frombuffer(content, item, int(np.prod(shape)), at).copy())
            at += self.arrays[-1].nbytes

    def wrapped(self) -> bytes:
        """A file of it with a right checksum, whatever it holds."""
        text = json.dumps(self.description).encode()
        content = bytearray(text)
        for array in self.arrays:
            content += bytes(-len(content) % array.itemsize) + array.tobytes()
        return rewrapped(bytes(content), len(text))


def rewrapped(content: bytes, text_size: int) -> bytes:
    body = zlib.compress(content, 1, wbits=-15)
    head = HEADER.pack(b"hedgerow", 1, 1, max(0, text_size), len(content), b"0.1.0")
    return head + body + struct.pack("<I", zlib.crc32(head + body))


def places(value, found):
    """All (container, key) of a JSON value."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            found.append((value, key))
            places(value[key], found)
    return found


def change_json(content: Content, rng: random.Random) -> None:
    found = places(content.description["records"], [])
    container, key = rng.choice(found)
    action = rng.randrange(6)
    if action == 0:
        del container[key]
    elif action == 1:
        other, at = rng.choice(found)
        container[key] = copy.deepcopy(other[at])
    elif action == 2 and isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))
    elif action == 3 and isinstance(container, dict):
        container[rng.choice(["a", "fitted", "graph_", "array", "record"])] = container.pop(key)
    elif action == 4 and isinstance(container[key], int):
        container[key] += rng.choice([-1, 1, 2, 100])
    elif action == 5:
        n = rng.randrange(8)
        container[key] = rng.choice([{"array": n}, {"record": n}])
    else:
        container[key] = copy.deepcopy(rng.choice(ODD))


def change_items(content: Content, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 1, 3, 20])):
        array = rng.choice(content.arrays)
        if not len(array):
            continue
        at, action = rng.randrange(len(array)), rng.randrange(4)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if action == 0:
                array.view(np.uint8)[rng.randrange(array.nbytes)] ^= 1 << rng.randrange(8)
            elif action == 1:
                array[at] = array[rng.randrange(len(array))]
            elif action == 2:
                array[at] = np.array(rng.choice(NUMBERS)).astype(array.dtype)
            else:
                array[at] += np.array(rng.choice([1, -1])).astype(array.dtype)


def change_entry(content: Content, rng: random.Random) -> None:
    place = rng.randrange(len(content.arrays))
    entry, array = content.description["arrays"][place], content.arrays[place]
    action = rng.randrange(6)
    if action == 0:
        entry[rng.randrange(2)] = rng.choice(TYPES)
    elif action == 1:
        entry[2] = rng.choice([[], [0], [1], [len(array), 1], [1, len(array)], [10**12], [-1], [2]])
    elif action == 2:  # shorter or longer, and said so
        n = max(0, len(array) + rng.choice([-1, 1, 5, -5]))
        content.arrays[place] = np.resize(array, n)
        entry[2] = [n]
    elif action == 3:
        entry.append("F")
    elif action == 4:
        entries = content.description["arrays"]
        other = rng.randrange(len(entries))
        for swapped in (entries, content.arrays):
            swapped[place], swapped[other] = swapped[other], swapped[place]
    else:
        entry[rng.randrange(len(entry))] = copy.deepcopy(rng.choice(ODD))


def change_bytes(data: bytes, other: bytes, rng: random.Random) -> bytes:
    action, mutant = rng.randrange(4), bytearray(data)
    if action == 0:
        for _ in range(rng.choice([1, 2, 30])):
            mutant[rng.randrange(len(mutant))] ^= 1 << rng.randrange(8)
    elif action == 1:
        mutant = mutant[: rng.randrange(len(mutant))]
    elif action == 2:
        mutant = mutant[: rng.randrange(len(mutant))] + other[rng.randrange(len(other)) :]
    else:
        at, n = rng.choice([(8, 2), (10, 2), (12, 4), (16, 8)])
        mutant[at : at + n] = rng.getrandbits(8 * n).to_bytes(n, "little")
    if rng.random() < 0.7 and len(mutant) > 4:
        mutant[-4:] = struct.pack("<I", zlib.crc32(mutant[:-4]))
    return bytes(mutant)


def mutant_of(files: dict[str, bytes], seed: int, number: int) -> tuple[str, bytes]:
    """The mutant with a number: the name of its seed, and its bytes."""
    rng = random.Random(f"{seed} {number}")
    name, other = rng.choice(list(files)), rng.choice(list(files))
    action = rng.random()
    if action < 0.1:
        return name, change_bytes(files[name], files[other], rng)
    content = Content(files[name])
    change = change_json if action < 0.55 else change_items if action < 0.85 else change_entry
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        with contextlib.suppress(TypeError, KeyError, IndexError, ValueError, AttributeError):
            change(content, rng)  # an earlier change may have broken what this one looks at
    try:
        return name, content.wrapped()
    except (TypeError, ValueError, RecursionError):
        return name, files[name]


def use(model, rows) -> str:
    """Ask a loaded model everything; the name of what is wrong with its answers."""
    repr(model)
    names = getattr(model, "feature_names_in_", None)
    is_frame = names is not None and names.tolist() == list(rows.columns)
    if is_frame and set(model.schema_.categories) == {2, 3}:
        X = rows
    else:
        n = model.n_features_in_
        X = np.resize(numbers(16), (16, n)) if n < 10**6 else numbers(16)
    problem = ""
    if hasattr(model, "predict"):
        model.predict(X)
    if hasattr(model, "transform"):
        model.transform(X)
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(X)
        if not np.isfinite(probabilities).all():
            problem = "probabilities are not finite"
        elif (probabilities < -1e-9).any() or abs(probabilities.sum(axis=1) - 1).max() > 1e-6:
            problem = "probabilities do not add up to one"
    for name in ("apply", "decision_path"):
        if hasattr(model, name):
            getattr(model, name)(X)
    for name in ("get_depth", "row_predictor"):
        if hasattr(model, name):
            getattr(model, name)()
    for name in ("n_splits_", "nbytes_", "feature_importances_", "estimators_"):
        getattr(model, name, None)
    hedgerow.save(model, os.devnull)
    return problem


def work(files, seed, todo, folder, write, seconds):
    """Load and use mutants in turn; one line of JSON for each."""
    rows = table(16)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    path = folder / f"mutant-{os.getpid()}.hedgerow"
    for number in todo:
        name, data = mutant_of(files, seed, number)
        path.write_bytes(data)
        signal.alarm(seconds)
        outcome, detail = "loaded", ""
        try:
            model = hedgerow.load(path)
        except ValueError as error:
            known = str(error).startswith(path.name)
            outcome = "refused" if known else "WRONG MESSAGE"
            detail = str(error)
        except BaseException as error:
            outcome, detail = "WRONG EXCEPTION", f"{type(error).__name__}: {error}"
        else:
            try:
                if detail := use(model, rows):
                    outcome = "WRONG ANSWER"
            except BaseException as error:
                outcome, detail = "FAILS IN USE", last_line(error)
        signal.alarm(0)
        os.write(write, (json.dumps([number, name, outcome, detail[:300]]) + "\n").encode())
    path.unlink()


def last_line(error) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"


def batch(files, arguments, todo, folder):
    """Outcomes of mutants in a forked process; the one that it died of is among them."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        status = 1
        try:
            os.close(read)
            limit = arguments.memory << 20
            if limit:
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            work(files, arguments.seed, todo, folder, write, arguments.seconds)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(write)
    outcomes, buffer = [], b""
    while chunk := os.read(read, 1 << 16):
        buffer += chunk
        *lines, buffer = buffer.split(b"\n")
        outcomes += [json.loads(line) for line in lines]
    os.close(read)
    _, status = os.waitpid(process, 0)
    if len(outcomes) < len(todo):
        number = todo[len(outcomes)]
        died = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        outcome = "HANG" if died == signal.SIGALRM else "CRASH"
        name, _ = mutant_of(files, arguments.seed, number)
        outcomes.append([number, name, outcome, f"signal {died}, status {status}"])
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=2000, help="how many mutants")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=20, help="most for one mutant")
    parser.add_argument(
        "--memory", type=int, default=4096, help="MiB of address space; 0: no limit"
    )
    parser.add_argument("--keep", type=Path, help="folder for files that went wrong")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    counts, examples = collections.Counter(), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        files = seeds(folder)
        print(f"{len(files)} seed files", flush=True)
        start, done, end = time.monotonic(), arguments.first, arguments.first + arguments.n
        while done < end:
            todo = range(done, min(done + 500, end))
            outcomes = batch(files, arguments, todo, folder)
            done += len(outcomes)
            for number, name, outcome, detail in outcomes:
                counts[outcome] += 1
                if outcome.isupper():
                    examples[f"{outcome}: {detail}"].append((number, name))
                    if arguments.keep:
                        arguments.keep.mkdir(exist_ok=True, parents=True)
                        _, data = mutant_of(files, arguments.seed, number)
                        (arguments.keep / f"{arguments.seed}-{number}.hedgerow").write_bytes(data)
    for problem, mutants in sorted(examples.items(), key=lambda item: -len(item[1])):
        print(f"{len(mutants):6} {problem}\n       such as number {mutants[0]}")
    seconds = time.monotonic() - start
    print(f"{arguments.n} mutants of seed {arguments.seed} in {seconds:.0f} s: {dict(counts)}")
    return 1 if examples else 0


if __name__ == "__main__":
    sys.exit(main())

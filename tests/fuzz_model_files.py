"""Load damaged and hostile model files: each must give the same model, or a ModelFileError.

    python -m tests.fuzz_model_files 10000 [seed]

Half of the damage is blind; the other half knows the format, and some of it signs the file
again, as somebody would who means harm. A file that is signed again may load to another model,
which must then answer. The process may use 200 MB more than it needs to start, 5 s of computing
and 2 minutes in all for each file, and may neither import, compile nor run anything.
"""

import json
import signal
import sys
import tempfile
import warnings
from collections import Counter
from hashlib import sha256
from pathlib import Path
from time import process_time

import numpy as np
import scipy.sparse as sp

from sparseksc import KernelSpectralClustering, ModelFileError, load
from sparseksc.datasets import make_gaussians
from sparseksc.persistence.container import LARGEST_HEADER

MEMORY, COMPUTING_SECONDS, SECONDS = 200 * 2**20, 5, 120
FORBIDDEN = ("exec", "compile", "import", "os.system", "subprocess.Popen", "pickle.find_class")
NUMBERS = [0, -1, 1, 2, 3, 2**31, 2**63, -(2**64), 10**400, 0.5, -0.5, 1e-320, 1e308, -1e308]
VALUES = [*NUMBERS, None, True, False, "", "auto", "nan", "\ud800", "x" * 10_000, [], {}, [[]], [0]]


# ------------------------------------------------------------------------------------ the victims


def make_victims(folder):
    """Pairs of a file's content and some points, for models that differ in what they store."""
    X, _ = make_gaussians(120, n_clusters=3, n_features=4, overlap=0.2, random_state=0)
    thin = sp.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))
    settings = [
        (X, {"n_clusters": [2, 3], "bandwidth": [2.0, 5.0], "scale": True}),
        (X.astype(np.float32), {"n_clusters": 3, "encoding": "sign", "bandwidth": np.full(4, 4.0)}),
        (X, {"n_clusters": 2, "kernel": "polynomial", "bandwidth": 3.0}),
        (X, {"n_clusters": 1, "kernel": "laplacian", "bandwidth": 3.0, "icd_bandwidth": 5.0}),
        (thin, {"n_clusters": 3, "kernel": "cosine"}),
        (np.abs(X), {"n_clusters": 3, "kernel": "chi2", "bandwidth": 1.0}),
        (X @ X.T, {"n_clusters": 2, "kernel": "precomputed"}),
    ]
    victims = []
    for rows, parameters in settings:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = KernelSpectralClustering(max_rank=12, random_state=0, **parameters).fit(rows)
        path = folder / "valid.ksc"
        model.save(path)
        victims.append((path.read_bytes(), rows[:20]))
    return victims


def answers(model, rows):
    """Everything that a model says of some points, as bytes."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = model.predict(rows)
        assert ((labels >= 0) & (labels < model.n_clusters_)).all()
        parts = labels, model.transform(rows), model.membership(rows), model.outliers(rows)
    return b"".join(part.tobytes() for part in parts)


# ------------------------------------------------------------------------------------- the format


def split(content):
    """Outer header, inner header and data of a valid file."""
    length = int.from_bytes(content[:8], "little")
    outer = json.loads(content[8 : 8 + length])
    return outer, json.loads(outer["__metadata__"]["header"]), content[8 + length :]


def canonical(content):
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def joined(outer, inner, data, *, signed):
    """Put a file together, with its old checksum or with the right one."""
    metadata = outer.get("__metadata__")
    if isinstance(metadata, dict):
        metadata = {**metadata, "header": inner if isinstance(inner, str) else canonical(inner)}
        outer = {**outer, "__metadata__": metadata}
        if signed:
            metadata.pop("sha256", None)
            metadata["sha256"] = sha256(canonical(outer).encode() + data).hexdigest()
    return framed(canonical(outer).encode(), data)


def framed(header, data):
    return len(header).to_bytes(8, "little") + header + data


# ------------------------------------------------------------------------------------- the damage


def flip_bits(content, rng):
    damaged = bytearray(content)
    for place in rng.integers(0, len(damaged), rng.integers(1, 9)):
        damaged[place] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def flip_bits_of_the_header(content, rng):
    damaged = bytearray(content)
    length = int.from_bytes(content[:8], "little")
    for place in rng.integers(0, 8 + length, rng.integers(1, 4)):
        damaged[place] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def flip_a_bit_of_the_numbers(content, rng):
    """What the checksum alone can find."""
    damaged = bytearray(content)
    start = 8 + int.from_bytes(content[:8], "little")
    damaged[rng.integers(start, len(damaged))] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def truncate(content, rng):
    return content[: rng.integers(0, len(content))]


def insert(content, rng):
    place = rng.integers(0, len(content) + 1)
    return content[:place] + rng.bytes(int(rng.integers(1, 100))) + content[place:]


def duplicate(content, rng):
    start, stop = sorted(rng.integers(0, len(content) + 1, 2))
    return content[:stop] + content[start:stop] + content[stop:]


def remove(content, rng):
    start, stop = sorted(rng.integers(0, len(content) + 1, 2))
    return content[:start] + content[stop:]


def overwrite(content, rng):
    start, stop = sorted(rng.integers(0, len(content) + 1, 2))
    filling = [b"\0", b"\xff", b"{", b" ", b"9"][rng.integers(5)] * int(stop - start)
    return content[:start] + filling + content[stop:]


def noise(content, rng):
    return rng.bytes(int(rng.integers(0, 3000)))


def lie_about_the_length(content, rng):
    true = int.from_bytes(content[:8], "little")
    lies = [0, 1, true - 1, true + 1, true + 8, len(content), 10 * 2**30, 2**63, 2**64 - 1]
    return int(rng.choice(np.array(lies, dtype=np.uint64))).to_bytes(8, "little") + content[8:]


def bomb(content, rng):
    """Text that is much larger once it is parsed, in place of one of the headers."""
    room = LARGEST_HEADER - 20_000
    outer, _, data = split(content)
    text = [
        "[" * room,
        '{"a":' * (room // 5),
        "[" + ",".join(["{}"] * (room // 3)) + "]",
        "[" + ",".join(["[]"] * (room // 3)) + "]",
        "[" + ",".join(f'"{i}"' for i in range(room // 9)) + "]",
        "9" * room,
        "[" + "1e9999," * (room // 7) + "0]",
        '{"__metadata__":' + "{}" + ',"a":1' * (room // 6) + "}",
    ][rng.integers(8)]
    if rng.integers(2) or '"' in text:
        return framed(text.encode(), data)
    return joined(outer, text, data, signed=True)


def places(tree, path=()):
    """Paths to everything in a JSON tree."""
    yield path
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield from places(tree[key], (*path, key))


def edit(tree, rng):
    """Change, remove, add or exchange something in a JSON tree."""
    tree = json.loads(json.dumps(tree))
    paths = [path for path in places(tree) if path]
    if not paths:
        return tree

    def parent(path):
        at = tree
        for key in path[:-1]:
            at = at[key]
        return at

    path = paths[rng.integers(len(paths))]
    holder, key, kind = parent(path), path[-1], rng.integers(6)
    if kind == 0:
        holder[key] = VALUES[rng.integers(len(VALUES))]
    elif kind == 1:
        del holder[key]
    elif kind == 2 and isinstance(holder, dict):
        holder[f"{key}x"] = holder[key]
    elif kind == 2:
        holder.append(holder[key])
    elif kind == 3:
        numbers = [p for p in paths if type(parent(p)[p[-1]]) in (int, float)]
        for one in numbers[:1]:
            two = numbers[rng.integers(len(numbers))]
            one = numbers[rng.integers(len(numbers))]
            a, b = parent(one), parent(two)
            a[one[-1]], b[two[-1]] = b[two[-1]], a[one[-1]]
    elif kind == 4:
        other = paths[rng.integers(len(paths))]
        value = json.loads(json.dumps(parent(other)[other[-1]]))
        holder[key] = value
    elif type(holder[key]) in (int, float):
        holder[key] = holder[key] * float(rng.choice([-1.0, 0.5, 2.0])) + int(rng.integers(-1, 2))
    return tree


def edit_headers(content, rng, signed=False):
    outer, inner, data = split(content)
    for _ in range(rng.integers(1, 3)):
        if rng.integers(3) == 0:
            outer = edit(outer, rng)
        else:
            inner = edit(inner, rng)
    return joined(outer, inner, data, signed=signed)


def edit_and_sign(content, rng):
    return edit_headers(content, rng, signed=True)


def change_numbers_and_sign(content, rng):
    outer, inner, data = split(content)
    numbers = np.frombuffer(data[: len(data) // 8 * 8], dtype="<f8").copy()
    wild = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308, 1e-320, 5e9]
    for place in rng.integers(0, max(len(numbers), 1), rng.integers(1, 4)):
        numbers[place] = wild[rng.integers(len(wild))]
    return joined(outer, inner, numbers.tobytes() + data[numbers.nbytes :], signed=True)


def repeat_a_name(content, rng):
    outer, inner, data = split(content)
    text = joined(outer, inner, b"", signed=False)[8:]
    return framed(b'{"coef":{"dtype":"F64","shape":[0],"data_offsets":[0,0]},' + text[1:], data)


FLIPS = [flip_bits, flip_bits_of_the_header, flip_a_bit_of_the_numbers]
BLIND = [*FLIPS, truncate, insert, duplicate, remove, overwrite, noise]
INFORMED = [lie_about_the_length, edit_headers, edit_headers, repeat_a_name]
SIGNED = [edit_and_sign, edit_and_sign, edit_and_sign, change_numbers_and_sign]


def mutate(content, rng):
    """Damage a file; return it and the kind of damage."""
    if rng.integers(100) == 0:
        return bomb(content, rng), bomb
    kinds = [*BLIND, *INFORMED, *SIGNED]
    kind = kinds[rng.integers(len(kinds))]
    return kind(content, rng), kind


# ------------------------------------------------------------------------------------- the verdict


class Watch:
    """Notes what Python does that loading a model must not do."""

    def __init__(self):
        self.on, self.seen = False, []
        sys.addaudithook(self._note)

    def _note(self, event, arguments):
        if self.on and event in FORBIDDEN:
            self.seen.append(f"{event} {arguments!r:.80}")


def peak_memory():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return 0


def evaluate(path, rows, expected, signed, watch):
    """Say what became of a file: "refused" or "loaded"; an error is an AssertionError."""
    watch.seen.clear()
    watch.on = True
    try:
        model = load(path)
    except ModelFileError as error:
        sentence = str(error)
        assert sentence.startswith(str(path)) and sentence.endswith("."), sentence
        assert len(sentence) < 1000 and "\n" not in sentence, sentence
        return "refused"
    finally:
        watch.on = False
        assert not watch.seen, watch.seen
    if signed and model.n_features_in_ != rows.shape[1]:
        return "loaded"
    said = answers(model, rows)
    assert signed or said == expected, "another model"
    return "loaded"


def fuzz(count, seed=0):
    """Try ``count`` files; return a report and the descriptions of all failures."""
    import resource  # not on every system, and the rest of this module is used by other tests

    watch, failures, outcomes = Watch(), [], Counter()
    slowest = 0.0
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "model.ksc"
        victims = []
        for content, rows in make_victims(Path(name)):
            path.write_bytes(content)
            victims.append((content, rows, answers(load(path), rows)))
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        before = peak_memory()
        in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use + MEMORY, resource.RLIM_INFINITY))
        for number in range(count):
            rng = np.random.default_rng([seed, number])
            content, rows, expected = victims[rng.integers(len(victims))]
            damaged, kind = mutate(content, rng)
            path.write_bytes(damaged)
            signed = kind in SIGNED or kind is bomb
            signal.alarm(SECONDS)
            signal.setitimer(signal.ITIMER_PROF, COMPUTING_SECONDS)
            started = process_time()
            try:
                outcome = evaluate(path, rows, expected, signed, watch)
                outcomes[outcome, kind.__name__] += 1
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                failures.append(f"{seed} {number} {kind.__name__}: {type(error).__name__} {error}")
            finally:
                signal.alarm(0)
                signal.setitimer(signal.ITIMER_PROF, 0)
            slowest = max(slowest, process_time() - started)
        growth = peak_memory() - before
    lines = [f"{n:6} {outcome} {kind}" for (outcome, kind), n in sorted(outcomes.items())]
    memory = f"{growth / 2**20:.0f} MB more memory at the peak"
    lines.append(f"at most {slowest:.2f} s of computing, {memory}")
    return lines, failures


def _too_slow(*_):
    raise TimeoutError(f"more than {COMPUTING_SECONDS} s of computing, or {SECONDS} s in all")


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, _too_slow)
    signal.signal(signal.SIGPROF, _too_slow)
    report, failures = fuzz(*map(int, sys.argv[1:]))
    print(*report, sep="\n")
    print(*failures[:20], sep="\n")
    sys.exit(f"{len(failures)} failures" if failures else 0)

"""Read damaged data files of every kind: each gives the same rows, other rows, or a sentence.

    python -m tests.fuzz_files 2000 [seed]

A valid table is written as NPY, NPZ, Parquet, Arrow, CSV (also compressed), JSON lines and
spreadsheet, damaged, opened and
read to the end, in a child process, which may use 400 MB and 20 s of computing for each file. What
is wrong ends in a ValueError, an OSError or a ChangedSource with one sentence that names the file;
any other error, a crash or a sentence without the name is a failure, reported with its number.
Damage that leaves a valid file may change the rows, which must then be finite and of one width.
"""

import gzip
import io
import lzma
import resource
import signal
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path

import numpy as np

from sparseksc import open_dataset
from sparseksc.data.files import KINDS
from sparseksc.data.stream import ChangedSource

MEMORY, SECONDS = 400 * 2**20, 20
#: Files that one child reads.
BATCH = 200


# ------------------------------------------------------------------------------------ the victims


def table():
    rng = np.random.default_rng(0)
    return rng.normal(size=(300, 3)).round(4)


def valid_files(folder):
    """The content of the same table in each kind of file, by the ending."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    X = table()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["name"] = [f"row {number}" for number in range(len(X))]
    path = folder / "valid"
    contents = {}
    np.save(path.with_suffix(".npy"), X)
    np.savez(path.with_suffix(".npz"), X=X)
    arrow = pa.Table.from_pandas(frame[["a", "b", "c"]], preserve_index=False)
    pa.parquet.write_table(arrow, path.with_suffix(".parquet"), row_group_size=100)
    pa.feather.write_feather(arrow, path.with_suffix(".arrow"), compression="uncompressed")
    frame[["a", "b", "c"]].to_csv(path.with_suffix(".csv"), index=False)
    frame[["a", "b", "c"]].to_json(path.with_suffix(".jsonl"), orient="records", lines=True)
    frame[["a", "b", "c"]].to_excel(path.with_suffix(".xlsx"), index=False)
    for ending in (".npy", ".npz", ".parquet", ".arrow", ".csv", ".jsonl", ".xlsx"):
        contents[ending] = path.with_suffix(ending).read_bytes()
    contents[".csv.gz"] = gzip.compress(contents[".csv"], mtime=0)
    contents[".csv.xz"] = lzma.compress(contents[".csv"])
    contents[".csv.zst"] = bytes(pa.compress(contents[".csv"], "zstd", asbytes=True))
    return contents


# ------------------------------------------------------------------------------------- the damage


def flip_bits(content, rng):
    damaged = bytearray(content)
    for place in rng.integers(0, len(damaged), rng.integers(1, 9)):
        damaged[place] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def flip_bits_of_the_ends(content, rng):
    """Headers stand at the beginning, the directories of Parquet, Arrow and NPZ at the end."""
    damaged = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        place = int(rng.integers(0, min(400, len(damaged))))
        damaged[place if rng.integers(2) else -1 - place] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def truncate(content, rng):
    return content[: rng.integers(0, len(content))]


def insert(content, rng):
    place = rng.integers(0, len(content) + 1)
    return content[:place] + rng.bytes(int(rng.integers(1, 100))) + content[place:]


def remove(content, rng):
    start, stop = sorted(rng.integers(0, len(content) + 1, 2))
    return content[:start] + content[stop:]


def overwrite(content, rng):
    start, stop = sorted(rng.integers(0, len(content) + 1, 2))
    filling = [b"\0", b"\xff", b"{", b" ", b"9", b",", b'"', b"\n"][rng.integers(8)]
    return content[:start] + filling * int(stop - start) + content[stop:]


def noise(content, rng):
    return rng.bytes(int(rng.integers(0, 3000)))


def splice_lines(content, rng):
    """For text: fields too many or too few, quotes that do not end, odd numbers and characters."""
    odd = [b"1,2", b"1,2,3,4", b'"1,2,3', b"nan,1,2", b"1,inf,2", b",,", b"1;2;3", b"\xff,1,2"]
    odd += [b"1e400,1,2", b"0x10,1,2", b"1_000,1,2", b"\0,1,2", b"a,b,c", b"", b"1,2,3" * 50]
    lines = content.split(b"\n")
    lines.insert(int(rng.integers(0, len(lines))), odd[rng.integers(len(odd))])
    return b"\n".join(lines)


def other_kind(content, rng):
    """A file of another kind under this ending."""
    buffer = io.BytesIO()
    choice = rng.integers(4)
    if choice == 0:
        np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    elif choice == 1:
        np.savez(buffer, a=np.arange(3), b=np.arange(4))
    elif choice == 2:
        np.save(buffer, np.array(["x", "y"]))
    else:
        return zlib.compress(content)
    return buffer.getvalue()


DAMAGES = [
    flip_bits,
    flip_bits_of_the_ends,
    truncate,
    insert,
    remove,
    overwrite,
    noise,
    splice_lines,
    other_kind,
]


# ------------------------------------------------------------------------------------- the verdict


def read(path, expected):
    """Say what became of a file; an AssertionError or any foreign error is a failure."""
    try:
        rows = np.concatenate([block for block, _ in open_dataset(path).blocks()])
    except (ValueError, OSError, ChangedSource) as error:
        sentence = str(error)
        assert path.name in sentence, f"no name in {sentence!r:.200}"
        assert len(sentence) < 2000, f"a sentence of {len(sentence)} characters"
        return "refused"
    assert np.isfinite(rows).all(), "rows that are not finite"
    same = rows.shape == expected.shape and np.array_equal(rows, expected)
    return "read" if same else "read as other rows"


def case(contents, seed, number):
    """Ending, damage and damaged content of a case."""
    rng = np.random.default_rng([seed, number])
    ending = list(contents)[rng.integers(len(contents))]
    damage = DAMAGES[rng.integers(len(DAMAGES))]
    return ending, damage, damage(contents[ending], rng)


def run(first, count, seed):
    """Read ``count`` files in this process, and print a line for each before and after."""

    def too_slow(*_):
        raise TimeoutError(f"more than {SECONDS} s of computing")

    signal.signal(signal.SIGPROF, too_slow)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        contents, expected = valid_files(folder), table()
        for ending, content in contents.items():
            path = folder / f"whole{ending}"
            path.write_bytes(content)
            assert read(path, expected) == "read", ending
        in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use + MEMORY, resource.RLIM_INFINITY))
        for number in range(first, first + count):
            ending, damage, content = case(contents, seed, number)
            path = folder / f"damaged{ending}"
            path.write_bytes(content)
            print(f"begin {number} {ending} {damage.__name__}", flush=True)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                outcome = read(path, expected)
            except BaseException as error:
                outcome = f"FAILED {type(error).__name__}: {error!s:.300}".replace("\n", " ")
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            print(f"end {outcome}", flush=True)


def fuzz(count, seed=0):
    """Try ``count`` files in child processes; return the counts and the failures."""
    assert set(KINDS) >= {".npy", ".npz", ".parquet", ".arrow", ".csv", ".csv.gz"}
    outcomes, failures = Counter(), []
    first = 0
    while first < count:
        size = min(BATCH, count - first)
        task = ["tests.fuzz_files", "--child", *map(str, (first, size, seed))]
        done = subprocess.run([sys.executable, "-m", *task], capture_output=True, text=True)
        lines = done.stdout.splitlines()
        begun = None
        for line in lines:
            kind, _, rest = line.partition(" ")
            if kind == "begin":
                begun = rest
            elif kind == "end":
                if rest.startswith("FAILED"):
                    failures.append(f"{begun}: {rest}")
                else:
                    outcomes[begun.split()[1], rest] += 1
                begun = None
        if begun is not None:  # the child died in the middle of a file: go on after it
            failures.append(f"{begun}: the process ended with {done.returncode}")
            first = int(begun.split()[0]) + 1
        elif not lines:
            raise RuntimeError(f"The child did not start: {done.stderr[-2000:]}")
        else:
            first += size
    return outcomes, failures


def main(arguments):
    if arguments[:1] == ["--child"]:
        run(*map(int, arguments[1:]))
        return 0
    outcomes, failures = fuzz(*map(int, arguments))
    for (ending, outcome), times in sorted(outcomes.items()):
        print(f"{times:6} {ending:9} {outcome}")
    print(*failures[:20], sep="\n")
    print(f"{sum(outcomes.values()) + len(failures)} files, {len(failures)} failures")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

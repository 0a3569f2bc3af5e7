"""The header of a model file: what it may say, and which arrays follow from it.

Every entry has a check of its type and range; entries that are missing or unknown are errors.
The header alone decides which arrays there are, and of which types and shapes
(:func:`layout`), so that a file whose arrays disagree is refused before they are read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sparseksc.config.domains import (
    Arguments,
    Bandwidths,
    Clusters,
    Domain,
    Flag,
    Fraction,
    Integer,
    OneOf,
    Seed,
    Share,
)
from sparseksc.config.parameters import PARAMETERS
from sparseksc.core.encoding import AngularDirections, Directions, Encoding, Means, Sides, SignCodes
from sparseksc.kernels import KERNELS
from sparseksc.kernels.metrics import METRICS
from sparseksc.preprocessing.columns import KINDS, EncodedColumn
from sparseksc.preprocessing.encoder import MISSING

Check = Callable[[str, Any], None]

#: Encodings by their names in model files.
ENCODING_NAMES: dict[str, type[Encoding]] = {
    "signs": SignCodes,
    "means": Means,
    "directions": Directions,
    "angles": AngularDirections,
    "sides": Sides,
}
TYPES = {"float64": "F64", "float32": "F32"}
#: Pivots whose kernel values tell whether a function is the one that the model was trained with.
COMPARED_PIVOTS = 8
LARGEST_INTEGER, LARGEST_NUMBER, LARGEST_DEGREE = 2**53, 1.7e308, 10**6
#: A smaller number has no finite inverse.
LEAST_BANDWIDTH = float(np.finfo(np.float64).tiny)
#: Parameters that files of the first versions do not have.
LATER_PARAMETERS = ("n_neighbors", "metric", "noise")
#: Stands for a kernel that is a function.
CALLABLE = "callable"
#: Numbers that describe each model in the ranking of a search: names in the file and of the
#: attributes.
RANKED_VALUES = {
    "value": "value",
    "rise": "conductance_ratio",
    "ams": "ams",
    "blf": "blf",
    "bas": "bas",
}
#: Surfaces of searches at one kernel in files that do not name them.
FORMER_SURFACES = ["ams", "blf", "bas", "strength", "conductance", "cut", "cohesion", "smallest"]
#: Numbers that JSON does not have.
SPECIAL_NUMBERS = ("nan", "inf", "-inf")


class ModelFileError(ValueError):
    """A file is not a model, is damaged, or cannot be used in this version."""


class HeaderError(ModelFileError):
    """An entry of a header is wrong: ``name`` must be ``allowed``."""

    def __init__(self, name: str, allowed: str) -> None:
        super().__init__(f"is damaged: {name} in its header must be {allowed}")
        self.name, self.allowed = name, allowed


def integer(least: int = 0, largest: int = LARGEST_INTEGER) -> Check:
    """Return the check of an integer in a range."""

    def check(name: str, value: Any) -> None:
        if type(value) is not int or not least <= value <= largest:
            raise HeaderError(name, f"an integer from {least} to {largest}")

    return check


def number(least: float = -LARGEST_NUMBER) -> Check:
    """Return the check of a finite number in a range."""

    def check(name: str, value: Any) -> None:
        if type(value) not in (int, float) or not least <= value <= LARGEST_NUMBER:
            raise HeaderError(name, "a finite number" + (f" of at least {least:g}") * (least >= 0))

    return check


def word(*allowed: str) -> Check:
    """Return the check of one of a few texts, or of any."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, str) or (allowed and value not in allowed):
            raise HeaderError(name, "one of " + ", ".join(allowed) if allowed else "text")

    return check


def nothing(name: str, value: Any) -> None:
    """Check that there is nothing."""
    if value is not None:
        raise HeaderError(name, "null")


def flag(name: str, value: Any) -> None:
    """Check a truth value."""
    if not isinstance(value, bool):
        raise HeaderError(name, "true or false")


def either(description: str, *checks: Check) -> Check:
    """Return the check that one of several is passed."""

    def check(name: str, value: Any) -> None:
        for one in checks:
            try:
                return one(name, value)
            except ModelFileError:
                continue
        raise HeaderError(name, description)

    return check


def items(check_item: Check, count: int | None = None) -> Check:
    """Return the check of a list, of a certain length or of any."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, list) or count not in (None, len(value)):
            raise HeaderError(name, "a list" if count is None else f"a list of {count} entries")
        for place, item in enumerate(value):
            check_item(f"{name}[{place}]", item)

    return check


def record(**entries: Check) -> Check:
    """Return the check of exactly these entries."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, dict) or value.keys() != entries.keys():
            raise HeaderError(name or "all", f"an object with the entries {', '.join(entries)}")
        for key, check_entry in entries.items():
            check_entry(f"{name}.{key}" if name else key, value[key])

    return check


def with_defaults(defaults: dict[str, Any], check: Check) -> Check:
    """Return the check of an object in which some entries may be missing."""
    return lambda name, value: check(
        name, {**defaults, **value} if isinstance(value, dict) else value
    )


def mapping(check_entry: Check) -> Check:
    """Return the check of an object with any names."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise HeaderError(name, "an object")
        for key, entry in value.items():
            check_entry(f"{name}.{key[:40]!r}", entry)

    return check


def optional(check: Check) -> Check:
    """Return the check that also takes null."""
    return lambda name, value: None if value is None else check(name, value)


_scalar = either("a number, a text, true, false or null", number(), word(), flag, nothing)
_any_number = either("a number", number(), word(*SPECIAL_NUMBERS))


def check_header(header: dict[str, Any]) -> None:
    """Check everything that the header says."""
    for name in ("n_clusters", "n_features"):  # the lengths of other entries follow from them
        integer(1)(name, header.get(name))
    K, d = header["n_clusters"], header["n_features"]
    check = record(
        n_clusters=integer(1),
        n_pivots=integer(1),
        n_features=integer(1),
        n_stored=optional(integer()),
        dtype=word(*TYPES),
        sparse=flag,
        scaled=flag,
        kernel=_kernel(d),
        degree_kernel=_kernel(d),
        encoding=word(*ENCODING_NAMES),
        degree_floor=number(),
        noise=optional(
            record(
                n_points=integer(1),
                n_stored=optional(integer()),
                bandwidth=number(LEAST_BANDWIDTH),
                by_angle=flag,
                floor=number(0.0),
                share=number(0.0),
            )
        ),
        classes=optional(
            either("names of the clusters", items(integer(-LARGEST_INTEGER), K), items(word(), K))
        ),
        tree=flag,
        feature_names=optional(items(word(), d)),
        parameters=_parameters(d),
        training=with_defaults(
            {"warnings": []},  # the first files do not have them
            record(
                n_samples=integer(1),
                cluster_sizes=items(number(0.0), K),
                eigenvalues=items(number(0.0), K - 1),
                residual=number(),
                n_outliers=integer(),
                timings=mapping(number(0.0)),
                warnings=items(word()),
            ),
        ),
        tuning=optional(_tuning(d)),
        libraries=mapping(word()),
        table=optional(_table),
    )
    # Files of the first versions do not have them, and only models of mixed tables a table.
    later = {"noise": None, "table": None, "classes": None, "tree": False}
    with_defaults(later, check)("", header)
    _check_together(header)


def _bandwidth(n_features: int) -> Check:
    """Return the check of a bandwidth as a kernel has it: one number, or a list."""
    return either(
        f"a positive number or {n_features} of them",
        number(LEAST_BANDWIDTH),
        items(number(LEAST_BANDWIDTH), n_features),
    )


def _kernel(n_features: int) -> Check:
    """Return the check of a kernel: its name decides what else there is."""

    def check(name: str, value: Any) -> None:
        kind = value.get("name") if isinstance(value, dict) else None
        word(*KERNELS, CALLABLE)(f"{name}.name", kind)
        entries: dict[str, Check] = {"name": word(), "bandwidth": nothing}
        if kind == CALLABLE:
            entries["params"] = mapping(_scalar)
        elif KERNELS[str(kind)].has_bandwidth:
            entries["bandwidth"] = _bandwidth(n_features)
        if kind == "landmarks":
            entries |= {"n_neighbors": integer(1), "metric": word(*METRICS)}
        if kind == "polynomial":
            entries |= {"degree": integer(1, LARGEST_DEGREE), "coef0": number(0.0)}
        record(**entries)(name, value)

    return check


def _parameters(n_features: int) -> Check:
    """Return the check of the estimator's parameters as plain values.

    It follows from the table of parameters; their meaning is checked by the same table.
    """
    stored = {name: one.domain for name, one in PARAMETERS.items() if one.stored}
    check = record(**{name: _of_domain(domain, n_features) for name, domain in stored.items()})
    return with_defaults({name: PARAMETERS[name].default for name in LATER_PARAMETERS}, check)


def _of_domain(domain: Domain, n_features: int) -> Check:
    """Return the check of the plain values of a domain."""
    bandwidth = either("a bandwidth", number(), record(per_feature=items(number(), n_features)))
    match domain:
        case Clusters():
            return either("a number of clusters", integer(1), word("auto"), items(integer(1)))
        case OneOf(names, or_function):
            return word(*names, CALLABLE) if or_function else word()
        case Bandwidths(several):
            if several:
                return either("a bandwidth", bandwidth, word("auto"), items(bandwidth))
            return optional(bandwidth)
        case Arguments():
            return optional(mapping(_scalar))
        case Flag():
            return flag
        case Integer(least, others):
            words = [word(other) for other in others if isinstance(other, str)]
            check = either("a number", integer(least), *words)
            return optional(check) if None in others else check
        case Fraction():
            return number(0.0)
        case Share():
            return optional(either("a share", number(0.0), word("auto")))
        case Seed():
            return optional(integer(0, 2**64))
    raise AssertionError(f"no plain values are known for {domain}")


def _tuning(n_features: int) -> Check:
    """Return the check of what a search found."""
    bandwidth = optional(_bandwidth(n_features))
    model = record(
        n_clusters=integer(1),
        bandwidth=bandwidth,
        kernel=word(),
        max_rank=integer(),
        **dict.fromkeys((*RANKED_VALUES, "conductance"), _any_number),
    )
    model = with_defaults({"kernel": "", "max_rank": 0, "conductance": "nan"}, model)
    check = record(
        best_n_clusters=integer(1),
        best_bandwidth=bandwidth,
        **dict.fromkeys(("criterion", "best_kernel"), word()),
        doubt=optional(word()),
        max_rank=optional(integer(1)),
        left_out=number(0.0),
        kernels=items(word()),
        ranks=items(integer(1)),
        surfaces=items(word("quality", *FORMER_SURFACES)),
        bandwidths=items(bandwidth),
        n_clusters=items(integer(1)),
        resolution=_any_number,
        n_eigenvalues=integer(),
        ranking=items(model),
    )
    # Entries that files of earlier versions do not have, or have alone.
    several = {"kernels": [], "ranks": [], "surfaces": FORMER_SURFACES, "left_out": 0.0}
    return with_defaults({"max_rank": None, "best_kernel": "", "resolution": 0.0, **several}, check)


_columns = items(
    record(
        name=word(),
        kind=word(*KINDS),
        reason=word(),
        levels=items(word()),
        pooled=flag,
        fill=number(),
        indicator=flag,
    )
)


def _table(name: str, value: Any) -> None:
    """Check what encodes the columns of a table, and that its features fit together."""
    record(
        columns=_columns,
        names=items(word()),
        missing=word(*MISSING),
        n_missing=mapping(integer()),
        n_rows=integer(1),
        mean=items(number()),
        scale=items(number(float(np.finfo(np.float64).tiny))),
    )(name, value)
    width = sum(len(EncodedColumn.meant(entry).feature_names) for entry in value["columns"])
    for key in ("mean", "scale"):
        items(number(), width)(f"{name}.{key}", value[key])


def _check_together(header: dict[str, Any]) -> None:
    """Check what depends on more than one entry."""
    kernel, other = header["kernel"], header["degree_kernel"]
    kind = KERNELS.get(kernel["name"])
    if {**other, "bandwidth": None} != {**kernel, "bandwidth": None}:
        raise HeaderError("degree_kernel", "the kernel, but for the bandwidth")
    if header["parameters"]["kernel"] not in ("auto", kernel["name"]):
        raise HeaderError("parameters.kernel", kernel["name"])
    tuning = header["tuning"] or {}
    for name in ("kernels", "ranks"):
        if len(tuning.get(name, ())) not in (0, len(tuning.get("bandwidths", ()))):
            raise HeaderError(f"tuning.{name}", "one for each bandwidth, or none")
    if header.get("table") and header["n_features"] != len(header["table"]["mean"]):
        raise HeaderError("n_features", "that of the encoded table")
    if header["parameters"]["scale"] != header["scaled"]:
        raise HeaderError("parameters.scale", "what scaled is")
    if header["scaled"] and kernel["name"] in ("precomputed", "chi2"):
        raise HeaderError("scaled", f"false for the {kernel['name']} kernel")
    if header["sparse"] and not (kind is not None and kind.accepts_sparse):
        raise HeaderError("sparse", f"false for the {kernel['name']} kernel")
    if (header["n_stored"] is not None) != header["sparse"]:
        raise HeaderError("n_stored", "there for sparse pivots only")
    noise = header.get("noise")
    if noise is not None and (noise["n_stored"] is not None) != header["sparse"]:
        raise HeaderError("noise.n_stored", "there for sparse rows only")
    if header["encoding"] in ("means", "sides") and header["n_clusters"] != 2:
        raise HeaderError("n_clusters", f"2 for the encoding {header['encoding']}")


def layout(header: dict[str, Any]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Types and shapes of the arrays of a file with this header."""
    R, K, d = header["n_pivots"], header["n_clusters"], header["n_features"]
    real = TYPES[header["dtype"]]
    arrays: dict[str, tuple[str, tuple[int, ...]]] = {
        "coef": ("F64", (R, K - 1)),
        "bias": ("F64", (K - 1,)),
        "degree_coef": ("F64", (R,)),
        "prototypes": ("F64", (K, K - 1)),
        # Landmarks are no rows.
        "indices": ("I64", (0 if header["kernel"]["name"] == "landmarks" else R,)),
    }
    if header["kernel"]["name"] == "precomputed":
        arrays["points"] = ("I64", (R,))
    else:
        arrays |= _rows("points", real, R, d, header["n_stored"])
    noise = header.get("noise")
    if noise is not None:
        arrays |= _rows("noise.points", real, noise["n_points"], d, noise["n_stored"])
        arrays["noise.mass"] = ("F64", (noise["n_points"],))
    if header.get("tree"):
        arrays["tree"] = ("F64", (K - 1, 4))
    if header["encoding"] == "angles":
        arrays["encoding.bias"] = ("F64", (K - 1,))
    if header["scaled"]:
        arrays["scaling.mean"] = arrays["scaling.scale"] = ("F64", (d,))
    if header["kernel"]["name"] == CALLABLE:
        compared = min(R, COMPARED_PIVOTS)
        arrays["kernel.values"] = ("F64", (compared, compared))
    if header["tuning"] is not None:
        rows, columns = len(header["tuning"]["bandwidths"]), len(header["tuning"]["n_clusters"])
        former = ["quality"] if header["tuning"].get("kernels") else FORMER_SURFACES
        names = header["tuning"].get("surfaces", former)
        arrays |= {f"tuning.{name}": ("F64", (rows, columns)) for name in names}
        arrays["tuning.eigenvalues"] = ("F64", (rows, header["tuning"]["n_eigenvalues"]))
    return arrays


def _rows(
    name: str, kind: str, count: int, n_features: int, n_stored: int | None
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Types and shapes of the arrays of some rows, sparse where so many entries are stored."""
    if n_stored is None:
        return {name: (kind, (count, n_features))}
    return {
        f"{name}.data": (kind, (n_stored,)),
        f"{name}.indices": ("I64", (n_stored,)),
        f"{name}.indptr": ("I64", (count + 1,)),
    }

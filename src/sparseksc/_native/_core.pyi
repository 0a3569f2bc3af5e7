from typing import Any

from numpy.typing import NDArray

def tile_into(
    name: str,
    X: NDArray[Any],
    P: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    out: NDArray[Any],
) -> None: ...
def scores_into(
    name: str,
    X: NDArray[Any],
    P: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    coef: NDArray[Any],
    bias: NDArray[Any],
    out: NDArray[Any],
) -> None: ...
def column_sums_into(
    name: str,
    X: NDArray[Any],
    P: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    weights: NDArray[Any],
    out: NDArray[Any],
) -> None: ...
def moments_into(
    name: str,
    X: NDArray[Any],
    P: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    weights: NDArray[Any],
    q: NDArray[Any],
    floor: float,
    moment: NDArray[Any],
    mean: NDArray[Any],
    totals: NDArray[Any],
) -> None: ...
def greedy_into(
    name: str,
    X: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    weights: NDArray[Any],
    trace: float,
    tol: float,
    floor: float,
    rank: int,
    residual: NDArray[Any],
    G: NDArray[Any],
    pivots: NDArray[Any],
    path: NDArray[Any],
) -> int: ...
def refine_into(
    rows: NDArray[Any], weights: NDArray[Any], rounds: int, prototypes: NDArray[Any]
) -> None: ...
def spread_into(rows: NDArray[Any], chosen: NDArray[Any]) -> int: ...
def assign_into(
    distances: NDArray[Any], labels: NDArray[Any], membership: NDArray[Any], angular: NDArray[Any]
) -> None: ...
def scatter_into(
    rows: NDArray[Any], labels: NDArray[Any], weights: NDArray[Any], scatter: NDArray[Any]
) -> None: ...
def uniform_into(rows: NDArray[Any], state: int, out: NDArray[Any]) -> None: ...
def ahead_into(
    rows: NDArray[Any] | None,
    count: int,
    state: int,
    bound: float,
    places: NDArray[Any],
    hashes: NDArray[Any],
) -> int: ...
def smallest_into(values: NDArray[Any], numbers: NDArray[Any]) -> None: ...
def nearest_into(
    X: NDArray[Any], P: NDArray[Any], numbers: NDArray[Any], distances: NDArray[Any]
) -> None: ...
def distances_into(
    X: NDArray[Any], P: NDArray[Any], numbers: NDArray[Any], distances: NDArray[Any]
) -> None: ...
def conductances_into(
    numbers: NDArray[Any],
    shares: NDArray[Any],
    weights: NDArray[Any],
    volumes: NDArray[Any],
    labels: NDArray[Any],
    resolution: float,
    inside: NDArray[Any],
    outside: NDArray[Any],
    sizes: NDArray[Any],
) -> None: ...
def exponential_into(values: NDArray[Any], out: NDArray[Any]) -> None: ...
def variants() -> list[str]: ...
def active_variant() -> str: ...
def use_variant(name: str) -> None: ...
def sparse_products_into(
    starts: NDArray[Any],
    features: NDArray[Any],
    values: NDArray[Any],
    point_starts: NDArray[Any],
    numbers: NDArray[Any],
    point_values: NDArray[Any],
    places: NDArray[Any],
    dense: NDArray[Any],
    out: NDArray[Any],
) -> None: ...

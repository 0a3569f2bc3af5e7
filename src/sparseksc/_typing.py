"""Names of array types, shared by all modules."""

from __future__ import annotations

import os
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Rows of numbers of any type: an array, or a CSR matrix where sparse rows are accepted.
Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.intp]
Booleans: TypeAlias = NDArray[np.bool_]
#: The name of a file.
StrPath: TypeAlias = str | os.PathLike[str]
#: One bandwidth for all features, or one for each.
Bandwidth: TypeAlias = float | tuple[float, ...]

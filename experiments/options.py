"""What the user can choose for all experiments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
DATA = REPOSITORY.parent / "shared" / "data" / "bsds500"


@dataclass(frozen=True)
class Options:
    """Sizes and places.

    Parameters
    ----------
    quick : bool
        Small sizes, to see that everything runs.
    out : Path
        Folder of the CSV files, the figures and the page.
    data : Path
        Folder with ``images`` and ``groundTruth`` of BSDS500.
    seed : int
        Seed of the first run; run i has the seed ``seed + i``.
    runs : int or None
        Number of runs of every experiment, instead of its usual number.
    jobs : int
        Number of processes for what is not timed.
    """

    quick: bool = False
    out: Path = REPOSITORY / "results" / "experiments"
    data: Path = DATA
    seed: int = 0
    runs: int | None = None
    jobs: int = 1

    def seeds(self, usual: int, quick: int = 2) -> range:
        """Return the seeds of the runs of an experiment."""
        count = self.runs if self.runs is not None else quick if self.quick else usual
        return range(self.seed, self.seed + count)

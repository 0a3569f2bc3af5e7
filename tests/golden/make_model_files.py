"""Writes the model files that every later version must read; run once for each format version.

    python tests/golden/make_model_files.py

The answers of the model are written beside it. Never run this again for a version that has
been released: the point is that its files are old.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_gaussians
from sparseksc.persistence.container import VERSION

HERE = Path(__file__).parent


def main():
    X, _ = make_gaussians(300, n_clusters=3, n_features=5, overlap=0.2, random_state=1)
    frame = pd.DataFrame(10.0 * X + 3.0, columns=["length", "width", "height", "mass", "age"])
    model = KernelSpectralClustering([2, 3, 4], max_rank=25, scale=True, random_state=0).fit(frame)
    model.save(HERE / f"model-v{VERSION}.ksc")
    new = np.random.default_rng(0).permutation(frame.to_numpy())[:25].round(3)
    answers = {
        "X": new.tolist(),
        "labels": model.predict(pd.DataFrame(new, columns=frame.columns)).tolist(),
        "scores": model.transform(pd.DataFrame(new, columns=frame.columns)).tolist(),
        "membership": model.membership(pd.DataFrame(new, columns=frame.columns)).tolist(),
    }
    (HERE / f"model-v{VERSION}.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()

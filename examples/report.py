"""Write two reports into a folder: `python examples/report.py reports`.

The spirals are the paper's pair, found without being told how many there are. The wines are
scikit-learn's: 13 chemical measurements of 178 Italian wines, standardised.
"""

import argparse
from pathlib import Path

from sklearn.datasets import load_wine

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_spirals
from sparseksc.report import write_report


def spirals(path):
    X, _ = make_spirals(20_000, random_state=0)
    model = KernelSpectralClustering(random_state=0).fit(X)
    write_report(model, X, path, title="Two spirals")


def wine(path):
    frame = load_wine(as_frame=True).data
    model = KernelSpectralClustering(scale=True, random_state=0).fit(frame)
    write_report(model, frame, path, title="178 wines from one region")


def main():
    parser = argparse.ArgumentParser(description="Write the reports of two data sets.")
    parser.add_argument("folder", type=Path, help="where to write spirals.html and wine.html")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for write in (spirals, wine):
        path = folder / f"{write.__name__}.html"
        write(path)
        print(path)


if __name__ == "__main__":
    main()

"""Reports as outputs of commands."""

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("default")


def test_ids_name_the_rows_of_a_report(files, points):
    from sparseksc.cli.page import RowNames
    from sparseksc.data.files import open_dataset

    names = RowNames(open_dataset(files / "points.csv", ids=["name"], block_rows=70))
    assert len(names) == 300
    assert list(names) == points[1]
    assert names[np.intp(299)] == "299"
    assert names[5:7] == ["005", "006"]
    pair = RowNames(open_dataset(files / "points.npz", ids=["name"], block_rows=70))
    assert pair[123] == "123"

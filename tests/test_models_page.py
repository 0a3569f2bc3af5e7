"""The examples of docs/models.md run, and do what the page says."""

import json
import re
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "models.md"


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What the examples define, run one after the other in an empty folder."""
    pytest.importorskip("onnxruntime")
    if not PAGE.exists():
        pytest.skip("needs docs/models.md")
    scope = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S):
            exec(compile(block, str(PAGE), "exec"), scope)
    yield scope
    scope["server"].server_close()


def test_the_header(names):
    assert names["header"]["kernel"]["name"] == "landmarks"
    assert names["header"]["training"]["n_samples"] == 2000


def test_the_service(names, monkeypatch):
    server = names["server"]
    monkeypatch.setattr(names["Clusters"], "log_message", lambda *_: None)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        address = f"http://127.0.0.1:{server.server_port}"
        rows = names["X"][:3].tolist()
        with urlopen(address, json.dumps(rows).encode(), timeout=20) as reply:
            content = json.load(reply)
        assert content["labels"] == names["model"].predict(names["X"][:3]).tolist()
        assert content["outliers"] == [False] * 3
        for wrong in (b"", b"{", b"[[1, 2]", b'[["a"]]', b"[[1, 2, 3]]", b"[[NaN, 1]]", b"{}"):
            with pytest.raises(HTTPError) as caught:
                urlopen(address, wrong, timeout=20)
            assert caught.value.code == 400
            assert json.load(caught.value)["error"]
            caught.value.close()
    finally:
        server.shutdown()
        thread.join()

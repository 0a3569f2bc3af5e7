"""Models as ONNX graphs: :func:`export`."""

from sparseksc.persistence.onnx import export

__all__ = ["export"]

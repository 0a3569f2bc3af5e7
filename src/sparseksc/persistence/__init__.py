"""Models as files: bytes, header, conversion, ONNX."""

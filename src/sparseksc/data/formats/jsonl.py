"""JSON lines: one object in each line, whose entries are the columns."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from sparseksc.data.formats.arrow import WHOLE, Columnar, require_pyarrow
from sparseksc.data.formats.base import brief
from sparseksc.data.formats.csv import MISSING
from sparseksc.data.formats.text import UNPACKING, encoding_of, head_of, open_lines

#: Lines that are parsed at once; the columns and their types are those of the first ones.
LINES_AT_ONCE = 20_000


class JsonLines(Columnar):
    """One JSON object in each line."""

    ending = ".jsonl"
    _known: tuple[Any, Any] | None = None

    def _encoding(self, path: Path) -> str:
        return self.request.encoding or encoding_of(path, head_of(path))

    def schema(self, path: Path) -> Any:  # noqa: D102
        pa = require_pyarrow()
        status = path.stat()
        now = path, status.st_size, status.st_mtime_ns
        if self._known is not None and self._known[0] == now:
            return self._known[1]
        with self._understood(path):
            first = next(self._tables(path, None), None)
        if first is None:
            raise ValueError(f"{path} is empty.")
        fields = []
        for field in first.schema:
            # Fractions may follow whole numbers.
            whole = pa.types.is_integer(field.type)
            of = pa.float64() if whole or pa.types.is_null(field.type) else field.type
            fields.append(pa.field(field.name, of, metadata=WHOLE if whole else None))
        self._known = now, pa.schema(fields)
        return self._known[1]

    def batches(self, path: Path, names: list[str]) -> Iterator[Any]:  # noqa: D102
        schema = self.schema(path)
        with self._understood(path):
            for table in self._tables(path, schema):
                yield from table.select(names).combine_chunks().to_batches()

    def carried(self, path: Path, names: list[str]) -> Iterator[Any]:  # noqa: D102
        pa = require_pyarrow()
        schema = self.schema(path)
        whole = [name for name in names if schema.field(name).metadata]
        for batch in self.batches(path, names):
            table = pa.Table.from_batches([batch])
            for name in whole:
                try:
                    numbers = table.column(name).cast(pa.int64())
                except pa.ArrowInvalid:
                    if self.request.typed_ids:
                        raise ValueError(
                            f"Column {name!r} of {path} holds whole numbers first and others "
                            "later: write the labels as CSV, which keeps both."
                        ) from None
                    continue
                table = table.set_column(table.column_names.index(name), name, numbers)
            yield from table.combine_chunks().to_batches()

    def _tables(self, path: Path, schema: Any) -> Iterator[Any]:
        from pyarrow import json as arrow

        options = arrow.ParseOptions(
            explicit_schema=schema,
            unexpected_field_behavior="infer" if schema is None else "ignore",
        )
        with open_lines(path, self._encoding(path)) as lines:
            filled = (line for line in lines if not line.isspace())
            while some := "".join(islice(filled, LINES_AT_ONCE)).encode():
                reading = arrow.ReadOptions(use_threads=False, block_size=len(some) + 1)
                yield arrow.read_json(io.BytesIO(some), reading, options)

    @contextmanager
    def _understood(self, path: Path) -> Iterator[None]:
        pa = require_pyarrow()
        try:
            yield
        except UnicodeError:
            raise ValueError(
                f"{path} is not text in UTF-8: say which encoding it has (--charset, encoding=)."
            ) from None
        except (pa.ArrowException, OSError, *UNPACKING) as error:
            if getattr(error, "errno", None) is not None:
                raise
            sentence = self._fault(path)
            raise ValueError(
                sentence or f"{path} cannot be read as JSON lines: {brief(error)}"
            ) from None

    def _fault(self, path: Path) -> str | None:
        """Say which line is not an object, or has another type of value than those before it."""
        known: dict[str, tuple[type, str]] = {}
        try:
            with open_lines(path, self._encoding(path)) as lines:
                for number, line in enumerate(lines, 1):
                    if line.isspace():
                        continue
                    try:
                        entry = json.loads(line)
                    except ValueError:
                        entry = None
                    if not isinstance(entry, dict):
                        return (
                            f"{path} has no JSON object in line {number:,}: write one object in "
                            "each line."
                        )
                    for name, value in entry.items():
                        if value is None:
                            continue
                        kind = float if type(value) in (int, float) else type(value)
                        before, shown = known.setdefault(name, (kind, brief(repr(value), 40)))
                        if before is not kind:
                            return (
                                f"{path} has {brief(repr(value), 40)} in line {number:,}, column "
                                f"{name!r}, where {shown} was before: correct it, or leave the "
                                "column out."
                            )
        except (OSError, *UNPACKING):
            return None
        return None

    def no_number(self, path: Path, name: str, of: Any) -> str:  # noqa: D102
        row = 0
        for batch in self.batches(path, [name]):
            for value in batch.column(name).to_pylist():
                row += 1
                if value is not None and value not in MISSING:
                    return (
                        f"{path} has {brief(repr(value), 40)} in row {row:,}, column {name!r}, "
                        "which is not a number: correct it, leave the column out, or keep it as "
                        "an id."
                    )
        return super().no_number(path, name, of)

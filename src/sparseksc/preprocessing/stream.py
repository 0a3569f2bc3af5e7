"""Files of any types of columns as streams of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from sparseksc._text import escaped_errors
from sparseksc._typing import Array
from sparseksc.data import stream
from sparseksc.data.files import FileStream, require_unchanged, stamp_of
from sparseksc.data.formats.arrow import (
    WHOLE,
    Columnar,
    category_columns,
    index_columns,
    is_whole,
    require_pyarrow,
)
from sparseksc.data.formats.base import MissingColumns, Rows, some_of
from sparseksc.data.source import Source
from sparseksc.preprocessing.columns import kind_of
from sparseksc.preprocessing.encoder import TableEncoder
from sparseksc.preprocessing.plan import MostlyNumbers
from sparseksc.preprocessing.tables import recut


class TableFiles:
    """Files of named columns of any types, read one after the other.

    Attributes
    ----------
    paths : list of Path
    form : Columnar
    schema : pyarrow.Schema
        Types of the columns of all files.
    index : list of str
        Columns that were the index of a pandas data frame.
    categories : list of str
        Columns that were categories of it.
    """

    def __init__(self, paths: list[Path], form: Columnar) -> None:
        self.paths, self.form = paths, form
        self.stamps = [stamp_of(path) for path in paths]
        pa = require_pyarrow()
        schemas = []
        with escaped_errors():
            for path, (size, _) in zip(paths, self.stamps, strict=True):
                if size == 0:
                    raise ValueError(f"{path} is empty.")
                schemas.append(form.schema(path))
                # For its check of the names.
                form.request.chosen(path, schemas[-1].names)
        common = [
            name for name in schemas[0].names if all(name in other.names for other in schemas)
        ]
        self.index = index_columns(schemas[0])
        self.categories = category_columns(schemas[0])
        fields = []
        for name in common:
            found = [schema.field(name) for schema in schemas]
            try:
                (field,) = pa.unify_schemas(
                    [pa.schema([one.remove_metadata()]) for one in found],
                    promote_options="permissive",
                )
                if any(is_whole(one) for one in found):
                    field = field.with_metadata(WHOLE)
            except pa.ArrowException:
                kinds = {str(one.type): path for one, path in zip(found, paths, strict=True)}
                (one, first), (other, second), *_ = kinds.items()
                raise ValueError(
                    f"Column {name!r} holds {one} in {first}, but {other} in {second}: correct "
                    "one of them, or leave the column out."
                ) from None
            fields.append(field)
        self.schema = pa.schema(fields)

    def is_numeric(self, names: Sequence[str]) -> bool:
        """Whether columns hold numbers and truth values alone, but for missing ones."""
        types = [self.schema.field(name).type for name in names]
        nothing = require_pyarrow().null()
        return all(kind_of(of) in ("number", "boolean") and of != nothing for of in types)

    def batches(self, names: list[str]) -> Iterator[Any]:
        """Record batches of the named columns of all files."""
        for path, stamp in zip(self.paths, self.stamps, strict=True):
            with escaped_errors():
                for batch in self.form.batches(path, names):
                    yield from self._of_one_schema(batch, names)
            require_unchanged(path, stamp)

    def batches_of_rows(self, start: int, stop: int, names: list[str]) -> Iterator[Any]:
        """Record batches of the named columns of rows ``start`` to ``stop`` of all files."""
        first = 0
        for path, stamp, rows in zip(self.paths, self.stamps, self.counts, strict=True):
            begin, end = max(start - first, 0), min(stop - first, rows)
            if begin < end:
                with escaped_errors():
                    for batch in self.form.batches_of_rows(path, begin, end, names):
                        yield from self._of_one_schema(batch, names)
                require_unchanged(path, stamp)
            first += rows

    @cached_property
    def counts(self) -> list[int]:
        """Numbers of rows of the files, for kinds of files that tell."""
        return [int(self.form.count(path) or 0) for path in self.paths]

    def _of_one_schema(self, batch: Any, names: list[str]) -> Iterator[Any]:
        pa = require_pyarrow()
        schema = pa.schema([self.schema.field(name) for name in names])
        table = pa.Table.from_batches([batch]).select(names)
        yield from (table if table.schema == schema else table.cast(schema)).to_batches()

    def carried(self, names: list[str]) -> Iterator[Any]:
        """Record batches of columns as they are in the files."""
        for path in self.paths:
            with escaped_errors():
                for batch in self.form.carried(path, names):
                    yield batch.select(names)


class EncodedStream(FileStream):
    """The rows of files, encoded as numbers in the units of the files.

    Attributes
    ----------
    encoder : TableEncoder
        Fitted.
    scaling : Scaling
        The encoder's shift and scale of each feature, which a model takes for its own.
    n_dropped : int
        Rows that the last reading left out because of missing values.
    """

    def __init__(self, files: TableFiles, encoder: TableEncoder, ids: Sequence[str] = ()) -> None:
        self.files, self.encoder, self.scaling = files, encoder, encoder.scaling_
        self.paths, self.form, self._stamps = files.paths, files.form, files.stamps
        self.ids, self.block_rows = list(ids), files.form.block_rows
        self.feature_names = [str(name) for name in encoder.get_feature_names_out()]
        self.n_features = len(self.feature_names)
        self.dtype = np.dtype(np.float64)
        self.n_rows, self.n_dropped = None, 0
        absent = [name for name in encoder.columns_in_use if name not in files.schema.names]
        if absent:
            raise MissingColumns(
                f"{self.paths[0]} has no column{'s' * (len(absent) > 1)} "
                f"{some_of([repr(name) for name in absent])}; it has "
                f"{some_of(files.schema.names)}."
            )

    def fingerprint(self) -> str:  # noqa: D102
        return f"{super().fingerprint()} {self.scaling.fingerprint()}"

    def _encoded(self) -> Iterator[tuple[Array, Any]]:
        """Blocks of all rows, and which of them are kept."""
        self.n_dropped = start = 0
        names = self.encoder.columns_in_use
        for batch in recut(self.files.batches(names), self.block_rows):
            with escaped_errors(), _naming(self.paths):
                block, complete = self.encoder.encode(batch, start)
            start += len(block)
            self.n_dropped += int((~complete).sum())
            yield block, complete

    def read(self) -> Iterator[Array]:  # noqa: D102
        kept = (block if complete.all() else block[complete] for block, complete in self._encoded())
        yield from stream.recut(kept, self.block_rows)

    def records(self) -> Iterator[Rows]:  # noqa: D102
        if not self.ids:
            for block, complete in self._encoded():
                yield block[complete], []
            return
        carried = recut(self.files.carried(self.ids), self.block_rows)
        for (block, complete), batch in zip(self._encoded(), carried, strict=True):
            some = batch if complete.all() else batch.filter(complete)
            yield block[complete], [some.column(name) for name in self.ids]

    def to_dask(self) -> Source:  # noqa: D102
        source: Any = stream.Stream.to_dask(self)
        source.encoder, source.files = self.encoder, self.files
        return source

    def parts(self) -> list[stream.Part]:  # noqa: D102
        if not self.form.has_random_access:
            raise ValueError(
                f"{self.paths[0]} can only be read from its beginning, and the workers of a "
                "cluster read parts: save the table as Parquet or Arrow."
            )
        if self.encoder.missing == "drop":
            raise ValueError(
                "Workers of a cluster need to know how many rows there are, before those with "
                "missing values are left out: choose missing='impute'."
            )
        n_rows, step = sum(self.files.counts), self.block_rows
        stops = [min(start + step, n_rows) for start in range(0, n_rows, step)]
        return [
            stream.Part(stop - start, partial(self._read_rows, start, stop))
            for start, stop in zip([0, *stops], stops, strict=False)
        ]

    def _read_rows(self, start: int, stop: int) -> Array:
        names = self.encoder.columns_in_use
        blocks = []
        for batch in recut(self.files.batches_of_rows(start, stop, names), self.block_rows):
            with escaped_errors(), _naming(self.paths):
                blocks.append(self.encoder.encode(batch, start)[0])
        return np.concatenate(blocks)


@contextmanager
def _naming(paths: list[Path]) -> Iterator[None]:
    """Say which file it was, where a sentence does not."""
    try:
        yield
    except ValueError as error:
        if not any(str(path) in str(error) for path in paths):
            error.args = (f"{paths[0]}: {error}",)
        raise


def fit_to_files(encoder: TableEncoder, files: TableFiles) -> TableEncoder:
    """Fit an encoder to files, in one pass; faults are said with their place in them."""
    names = [name for name in files.schema.names if name not in files.index]
    if encoder.columns is not None:
        names = [name for name in files.schema.names if name in encoder.columns]
    schema = require_pyarrow().schema([files.schema.field(name) for name in names])
    kinds, _ = encoder.kinds(schema)
    with escaped_errors(), _naming(files.paths):
        try:
            return encoder.fit_batches(files.batches(list(kinds) or names[:1]), schema)
        except MostlyNumbers as error:
            name = error.column
            sentences = (
                files.form.no_number(path, name, schema.field(name).type) for path in files.paths
            )
            raise ValueError(next(sentences, str(error))) from None
        except ValueError as error:
            name = schema.names[0] if len(schema.names) == 1 else ""
            if all(mark.isalnum() or mark in " _" for mark in name):
                raise
            raise ValueError(
                f"{error} If {name!r} are several columns, say what separates them (--separator)."
            ) from None

"""What can be written on the command line: commands, arguments, options and their help."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click

from sparseksc._version import __version__
from sparseksc.cli import options as o
from sparseksc.config.parameters import PARAMETERS


class Command(click.Command):
    """A command whose help ends in examples that keep their lines."""

    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples.strip().splitlines()

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Print the examples as they are."""
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"  {line.strip()}\n")


class Group(click.Group):
    """Commands in the order in which they are used, and a hint for a misspelt one."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of their declaration."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.commands, n=1)
            hint = (
                f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(self.commands)}."
            )
            raise click.UsageError(f"There is no command {args[0]!r}. {hint}", ctx) from error


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Each command has its own help with examples: ksc fit --help. Data is Parquet, Arrow, "
    "CSV, JSON lines, a spreadsheet, NPY or NPZ by the ending of the name, text also compressed; a "
    "file, several, a folder or a quoted pattern; - is CSV on standard input or output.",
)
@click.version_option(__version__, prog_name="ksc", message="%(prog)s %(version)s")
def ksc() -> None:
    """Find clusters of any shape in tables of any size, and label new rows."""


def _command_line() -> str:
    """Return the command as it was written, for reports."""
    return shlex.join(["ksc", *sys.argv[1:]])


@ksc.command(
    examples="""
    ksc fit points.parquet -o model.ksc
    ksc fit data.parquet -k auto --columns a,b,c -o model.ksc --labels labels.parquet
    ksc fit 'logs/2026-*.csv.gz' --id user -k 2..8 --scale -o model.ksc --report report.html
    ksc fit customers.xlsx --drop-columns notes --labels labelled.csv --append
    ksc fit big.parquet -k 5 --bandwidth 0.3 --memory-limit 2GB --checkpoint run.ckpt -o m.ksc
    ksc fit penguins.csv --label species -o model.ksc
    ksc fit november.csv --align-to october.ksc -o november.ksc
    zcat points.csv.gz | ksc fit - -k 3 --labels - > labels.csv
    """
)
@o.data_files
@o.numbers_option("n_clusters", "auto", PARAMETERS["n_clusters"].help)
@o.bandwidth_option()
@click.option("-o", "--output", type=o.FILE, help="Model file to write (.ksc).")
@click.option("--labels", type=o.FILE, help="Table of labels to write, in the order of the rows.")
@click.option("--membership", is_flag=True, help="Write memberships beside the labels.")
@o.append_option
@o.spreadsheet_option
@click.option("--report", type=o.FILE, help="Page to write (.html) that shows the result.")
@o.data_options
@o.table_options
@o.model_options
@o.seed_option
@o.jobs_option
@o.memory_option
@click.option(
    "--checkpoint", type=o.FILE, help="File that a long run goes on from after an interruption."
)
@click.option(
    "--label", metavar="COLUMN", help="Column with the classes of some rows, empty for the others."
)
@click.option("--align-to", type=o.FILE, help="Model (.ksc) whose numbers the same clusters keep.")
@o.ending_options
def fit(**options: Any) -> None:
    """Cluster the rows of DATA and save a model that labels other rows."""
    parameters = o.model_parameters(options)
    if not (options["output"] or options["labels"] or options["report"]):
        raise click.UsageError("Nothing would be kept: give -o, --labels or --report.")
    if options["membership"] and not options["labels"]:
        raise click.UsageError("--membership is written with --labels: give that too.")
    if options["append"] and not options["labels"]:
        raise click.UsageError("--append is for --labels: give that too.")
    if options["spreadsheet"] and not options["labels"]:
        raise click.UsageError("--spreadsheet is for --labels: give that too.")
    request, table = o.data_request(options), o.table_request(options)
    from sparseksc.cli.commands.fit import run

    run(**options, request=request, table=table, parameters=parameters, command=_command_line())


@ksc.command(
    examples="""
    ksc predict model.ksc new.csv -o labels.csv
    ksc predict model.ksc new.parquet --id customer --membership -o labels.parquet
    ksc predict model.ksc new.parquet --append -o labelled.parquet
    ksc predict model.ksc incoming/ -o labels.csv.gz
    ksc predict model.ksc new.csv --level 3 -o coarse.csv
    cat new.csv | ksc predict model.ksc - | head
    """
)
@click.argument("model", type=click.Path())
@o.data_files
@click.option(
    "-o",
    "--output",
    type=o.FILE,
    default="-",
    help="Table of labels to write, in the order of the rows; CSV on stdout by default.",
)
@click.option(
    "--level",
    type=click.IntRange(min=1),
    metavar="K",
    help="Label by so many coarser clusters.",
)
@click.option("--membership", is_flag=True, help="Write memberships beside the labels.")
@o.append_option
@o.spreadsheet_option
@o.data_options
@o.jobs_option
@o.ending_options
def predict(**options: Any) -> None:
    """Label the rows of DATA with MODEL. Columns are found by their names."""
    request = o.data_request(options)
    from sparseksc.cli.commands.predict import run

    run(**options, request=request)


@ksc.command(
    examples="""
    ksc tune data.npy -k 2..10 -o tuning.json --plot tuning.png
    ksc tune data.parquet --bandwidth 0.1,0.3,1 --json
    """
)
@o.data_files
@o.numbers_option(
    "n_clusters",
    "2..10",
    "Candidates: 2..10, 2,4,8, a number, or auto, where one cluster is an answer too.",
)
@o.bandwidth_option("Candidates: 0.1,1,10, a number, or auto.")
@click.option("-o", "--output", type=o.FILE, help="JSON file to write, with every model compared.")
@click.option("--plot", type=o.FILE, help="Figure of the search to write (.png, .svg, .pdf).")
@o.data_options
@o.table_options
@o.model_options
@o.seed_option
@o.jobs_option
@o.ending_options
def tune(**options: Any) -> None:
    """Compare numbers of clusters and bandwidths for DATA, without saving a model."""
    parameters = o.model_parameters(options)
    request, table = o.data_request(options), o.table_request(options)
    from sparseksc.cli.commands.tune import run

    run(**options, request=request, table=table, parameters=parameters)


@ksc.command(
    examples="""
    ksc segment photo.jpg -o segments.png --overlay overlay.png
    ksc segment photo.jpg -k 4 -o segments.npy
    ksc segment photo.jpg --features histogram --dither -o segments.npy
    for photo in *.jpg; do ksc segment "$photo" --overlay "${photo%.jpg}-segments.png"; done
    """
)
@click.argument("image", type=click.Path())
@o.numbers_option("n_segments", "auto", "Segments: a number, 2..7, 2,4 or auto.")
@click.option(
    "--features",
    type=click.Choice(["local", "histogram"]),
    default="local",
    show_default=True,
    help="Colour, contrast and position, or histograms of colours.",
)
@click.option(
    "--connected/--scattered",
    default=True,
    show_default=True,
    help="Whether each segment is in one piece.",
)
@click.option(
    "--bandwidth",
    type=o.bandwidths,
    metavar="H",
    help="Of histograms: width of the kernel, a number, candidates 0.1,0.2 or auto.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    help="Segment of each pixel to write: .png (numbers, shown in mean colours) or .npy.",
)
@click.option("--overlay", type=click.Path(), help="Image with the segments drawn on it to write.")
@click.option(
    "--levels",
    type=click.IntRange(2, 256),
    help="Of histograms: colours that the image is reduced to, 8 if not given.",
)
@click.option("--dither", is_flag=True, help="Of histograms: diffuse the error of that reduction.")
@click.option(
    "--clean-up",
    type=click.IntRange(min=0),
    help="Least pixels of a piece; smaller ones join a neighbour.",
)
@o.seed_option
@o.jobs_option
@o.ending_options
def segment(**options: Any) -> None:
    """Divide IMAGE into segments of like colours and textures."""
    if not (options["output"] or options["overlay"]):
        raise click.UsageError("Nothing would be kept: give -o or --overlay.")
    from sparseksc.cli.commands.segment import run

    run(**options)


@ksc.command(
    examples="""
    ksc info model.ksc
    ksc info model.ksc --json
    """
)
@click.argument("model", type=click.Path())
@o.ending_options
def info(**options: Any) -> None:
    """Say what is in MODEL: the kernel, the columns, the clusters, the versions."""
    from sparseksc.cli.commands.info import run

    run(**options)


@ksc.command(
    examples="""
    ksc report model.ksc data.parquet -o report.html
    ksc report model.ksc data.csv --id customer --title "Customers, spring" -o report.html
    """
)
@click.argument("model", type=click.Path())
@o.data_files
@click.option("-o", "--output", type=o.FILE, required=True, help="Page to write (.html).")
@click.option("--title", help="Title of the page.")
@o.data_options
@o.jobs_option
@o.ending_options
def report(**options: Any) -> None:
    """Write a page that shows what MODEL found in DATA, to send to anybody."""
    request = o.data_request(options)
    from sparseksc.cli.commands.report import run

    run(**options, request=request, command=_command_line())


@ksc.command(
    examples="""
    ksc demo
    ksc demo --points 1000000 -o figures
    """
)
@click.option(
    "--points",
    type=click.IntRange(min=1000),
    default=100_000,
    show_default=True,
    help="Number of points.",
)
@click.option(
    "-o", "--output", type=o.FILE, default="demo", show_default=True, help="Folder of the figure."
)
@o.seed_option
@o.debug_option
def demo(points: int, output: str, random_state: int) -> None:
    """Cluster two intertwined spirals and draw them."""
    from sparseksc.demo import main

    main(["--points", str(points), "--out", output, "--seed", str(random_state)])


@ksc.command(
    examples="""
    ksc completion bash >> ~/.bashrc
    ksc completion zsh >> ~/.zshrc
    ksc completion fish > ~/.config/fish/completions/ksc.fish
    """
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that lets SHELL complete commands, options and files."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # these three come with click
    # Not through source(), which runs bash to see how old it is.
    script = kind(ksc, {}, "ksc", "_KSC_COMPLETE")
    click.echo(script.source_template % script.source_vars())

"""All that the commands of ksc import, for processes that are copies of one that has it."""

import sparseksc.cli.commands.fit
import sparseksc.cli.commands.info
import sparseksc.cli.commands.predict
import sparseksc.cli.commands.report
import sparseksc.cli.commands.segment
import sparseksc.cli.commands.tune
import sparseksc.cli.program
import sparseksc.report.page  # noqa: F401

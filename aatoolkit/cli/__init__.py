"""The command line, ``aatoolkit``.

Data goes to standard output; notes, warnings and the progress bar go to standard error. The exit
code is 0 for success, 1 if something failed, 2 if the command was not understood or a value is
wrong, 130 after Ctrl-C. In reading order:

- ``shell``: what all commands use: their definition, error messages, and output formats.
- ``app``: the commands.
- ``entry_point``: runs a command, prints its error and returns its exit code.
"""

from aatoolkit.cli.app import app as app
from aatoolkit.cli.entry_point import main as main

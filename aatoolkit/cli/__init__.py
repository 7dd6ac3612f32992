"""The command line, ``aatoolkit``.

Data goes to standard output; notes, warnings and the progress bar go to standard error. The exit
code is 0 for success, 1 if something failed, 2 if an argument is wrong, 130 after Ctrl-C. In
reading order:

- ``shell``: options, error messages and output formats of all commands.
- ``app``: the commands.
- ``entry_point``: runs a command, prints its error and returns its exit code.
"""

from aatoolkit.cli.app import app as app
from aatoolkit.cli.entry_point import main as main

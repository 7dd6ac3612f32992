"""The examples in the help of each command; the tests run them one after the other."""

from __future__ import annotations

_EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("demo --days 7 -o demo-7",),
    "scope": ("scope acme.example", "scope acme.example --json"),
    "read": (
        "read acme.example domains",
        "read acme.example domains --engine chatgpt --csv",
        "read acme.example urls -o urls.xlsx",
        "read acme.example chats --table chat_mentions",
    ),
    "export": ("export acme.example files --section crawl",),
    "report": ("report acme.example -o acme.html --section urls",),
    "collect": (
        "collect acme.example globex.example -o files \\\n      --section urls --section crawl",
    ),
    "cache": ("cache info", "cache clear --host acme.example"),
    "study record": ("study record acme.example mine --section urls",),
    "study show": ("study show mine",),
    "study verify": ("study verify mine --replay",),
    "study diff": ("study diff mine mine.zip",),
    "study pack": ("study pack mine mine.zip",),
    "study rerun": ("study rerun analysis.ipynb mine -o done.ipynb",),
    "study publish": ("study publish mine published --csv",),
    "explain": ("explain mine cited_urls --column citation_count",),
    "archive add": (
        "archive add acme.example --dir history \\\n      --section urls",
    ),
    "archive info": ("archive info --dir history",),
    "archive sql": (
        'archive sql "SELECT count(*) FROM cited_urls" \\\n      --dir history --csv',
    ),
    "archive compact": ("archive compact --dir history",),
    "archive verify": ("archive verify --dir history --replay",),
    "archive rebuild": ("archive rebuild --dir history",),
    "archive export": ("archive export tables --dir history",),
    "archive forget": ("archive forget --host acme.example --dir history",),
    "profile draft": ("profile draft acme.example -o service.py",),
    "profile check": (
        "profile check acme.example \\\n      --profile service.py",
    ),
    "profile show": ("profile show service.py",),
    "profile types": ("profile types service.py -o types.py",),
    "doctor": ("doctor", "doctor acme.example"),
    "synth": ("synth store --seed 1 --answers 2000",),
    "serve": ("serve store --port 0",),
}  # fmt: skip


def examples_text(command: str) -> str:
    """Return the examples of a command, as its help shows them.

    Parameters
    ----------
    command : str
        The command with the program's name, such as ``aatoolkit study show``.
    """
    program, _, name = command.partition(" ")
    lines = "\n".join(f"  {program} {example}" for example in _EXAMPLES[name])
    return f"examples:\n{lines}"

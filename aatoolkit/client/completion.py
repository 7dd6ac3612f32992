"""Tab in ``project.read("`` offers the sections, in IPython and Jupyter."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aatoolkit.client.project import Project

_CALL = re.compile(
    r"(?P<object>[^\W\d]\w*)\.(?:read|fetch|read_all)\(\s*(?:sections\s*=\s*)?"
    r"\[?\s*(?:['\"]\w*['\"]\s*,\s*)*(?P<quote>['\"])(?P<start>\w*)$"
)
"""A call on a plain name, up to the cursor within the first argument."""


def offer_sections() -> None:
    """Add the completion to the running shell, once; nothing happens outside of IPython."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    completer = getattr(shell, "Completer", None)
    if completer is None or any(
        getattr(matcher, "matcher_identifier", "") == _IDENTIFIER
        for matcher in completer.custom_matchers
    ):
        return
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher(identifier=_IDENTIFIER)  # type: ignore[untyped-decorator]
    def match_sections(context: Any) -> Any:
        call = _CALL.search(context.text_until_cursor)
        project = shell.user_ns.get(call["object"]) if call else None
        names = sections_of(project)
        if call is None or not names:
            return {"completions": []}
        fitting = [name for name in names if name.startswith(call["start"])]
        return {
            "completions": [SimpleCompletion(text=name, type="section") for name in fitting],
            "matched_fragment": call["start"],
            "suppress": bool(fitting),  # files and magics are not sections
        }

    completer.custom_matchers.append(match_sections)


def sections_of(project: Project | Any) -> tuple[str, ...]:
    """Return the sections that an object of the shell can read; none of any other object."""
    names = getattr(type(project), "_section_names", None)
    return () if names is None else tuple(names(project))


_IDENTIFIER = "aatoolkit.sections"

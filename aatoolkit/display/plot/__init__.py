"""Pictures (charts) of DataFrames; the metadata of the columns choose the default kind.

A picture is first computed as a `Spec`, a dataclass with its marks (bars, dots, lines, cells) and
texts. Then matplotlib or plotly draws it. No function depends on which section a frame is from.
Values that were not measured are hatched, or leave a gap in a line; they are never drawn as 0.

The modules, in reading order:

- ``draw``: check the arguments, choose the kind of picture, add the source, draw with matplotlib.
- ``data``: `PlotData`, a frame with the role of each column, and functions that aggregate to one
  row per mark.
- ``rows``, ``tables``, ``times``: the kinds of pictures. Each is a function that returns a `Spec`,
  or None if the data do not fit.
- ``spec``: `Spec`, and the explanation of its marks; ``style``: names and reasons as text, colours
  on light and dark backgrounds.
- ``layout``: the positions of all parts, in points, computed from the measured widths of texts.
- ``interactive``: draw a spec with plotly.
"""

"""Pictures (charts): a default picture for each table, chosen by the declarations of its columns.

A picture is first computed as a `Spec`, a dataclass with its marks (bars, dots, lines, cells) and
texts; then matplotlib or plotly draws it. No function depends on the section that a frame is from.
Values that were not measured are hatched, or break the line; they are never drawn as 0, and nothing
else is hatched. In reading order:

- ``draw``: check the arguments, choose the kind of picture, add the source, draw with matplotlib.
- ``data``: `PlotData`, a frame with the role of each column, the rows about the own brand, and
  titles from other tables of the response; functions that aggregate to one row per mark, and that
  say why a mark has no number.
- The kinds of pictures, each a function that returns a `Spec`, or None if the data do not fit:
  ``rows`` (bars, gaps, shares, counts), ``tables`` (figures, stages, states, texts, and results of
  statistics), ``times`` (lines and heat maps).
- ``spec``: `Spec`, and the explanation of its marks; ``style``: names and reasons as text, colours
  on light and dark backgrounds.
- ``layout``: the positions of all parts, in points, computed from the measured widths of texts.
- ``interactive``: draw a spec with plotly.
"""

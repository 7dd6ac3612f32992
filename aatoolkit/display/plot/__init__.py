"""Pictures (charts): a default picture for each table, chosen by the declarations of its columns.

A picture is a value, a `Spec` of marks (bars, dots, lines, cells) and words; two renderers draw it.
No step knows about sections. Values that were not measured are hatched, or break the line; they are
never drawn as 0, and nothing else is hatched. In reading order:

- ``draw``: check the arguments, choose the kind of picture, add the source, draw with matplotlib.
- ``data``: `PlotData`, a frame with the role of each column, its own rows, and titles from other
  tables of the response; one row per mark, and the reason why a mark has no number.
- The kinds, each a function that returns a `Spec`, or None if it does not fit: ``rows`` (bars,
  gaps, shares, counts), ``tables`` (figures, stages, states, texts, and the results of
  statistics, a line of a table each), ``times`` (lines, changes and heat maps).
- ``spec``: the value, the rows behind its marks and their explanation; ``style``: names and reasons
  as text, colours and looks on light and dark paper.
- ``layout``: where everything is, in points, from measured text.
- ``interactive``: draw a spec with plotly.
"""

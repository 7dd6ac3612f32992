"""Pictures: a default picture for each table, chosen from the declarations of its columns.

A picture is a value, a `Spec` of panels, marks and words; two renderers draw it. No step knows
about sections. Values that were not measured are hatched, or break the line; they are never drawn
as 0, and nothing else is hatched. In reading order:

- ``draw``: choose the kind of picture, put panels together, add notes and source.
- ``options``: validate the arguments of ``df.aa.plot``; ``data``: `PlotData`, a frame with the
  role of each column; ``owners``: own rows, competitors' and titles that only another table of the
  answer names; ``measured``: rows that share a mark, its interval, and why it has no number.
- The kinds, each a function that returns a `Panel`, or None if it does not fit: ``rows`` (bars,
  gaps, figures, funnels, shares, states, texts), ``results`` (of statistics), ``times`` (lines and
  changes), ``cells`` (heat maps), ``scatter``.
- ``spec``: the value; ``style``: colours and looks on light and dark paper; ``drawn``: the rows
  behind the marks, and their explanation.
- ``layout``: where everything is, in points, from the measured text of ``fonts``.
- ``axes`` and ``interactive``: draw a spec with matplotlib, and with plotly.
- ``labels``: names, captions and sources as text.
"""

"""Pictures: a default picture for each table, chosen from the declarations of its columns.

A DataFrame comes in, matplotlib axes go out. No step knows about sections. Values that were not
measured are hatched, or break the line; they are never drawn as 0. In reading order:

- ``draw``: choose the kind of picture, draw it, and add title, notes and source.
- ``options``: validate the arguments of ``df.aa.plot``.
- ``roles``: `PlotData`, a frame with the role of each column: label, number, time, flag;
  ``kinds``: what a column holds.
- ``reduce``: aggregate rows that would be drawn at the same mark.
- ``estimates``, ``steps``, ``stages``: results of statistics: dots with intervals, change points,
  the stages from crawled to converted.
- ``effects``, ``funnel``, ``scatter``, ``figures``, ``lines``, ``heatmap``, ``pairs``, ``stacks``,
  ``bars``, ``spans``, ``verdicts``: the kinds of pictures, each with a ``plan`` that returns None
  if it does not fit; ``empty`` is drawn if none does. ``line_series``: one line of a chart.
- ``owners``: own rows and competitors' that only another table of the answer names; ``reasons``:
  why a mark has no number.
- ``whiskers``: the interval of each mark, and which one it is.
- ``marks``: from a bar, a point or a cell to the numbers that it shows.
- ``facets``: a panel for each value of a column.
- ``labels``: numbers and words as text; ``fonts``: text that is safe to draw; ``picture``: axes
  that display themselves; ``canvas``: axes, title, legend; ``cell_text``: text of a heat map;
  ``svg``: pictures as SVG; ``style``: colours, hatches, markers; ``theme``: the same on dark
  paper.
- ``tips``: what is said of a mark; ``interactive``, with ``plotly_panel`` and ``plotly_text``: the
  drawn picture once more as a figure of plotly.
"""

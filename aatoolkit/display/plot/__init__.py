"""Pictures: a default picture for each table, chosen from the declarations of its columns.

A DataFrame comes in, matplotlib axes go out. No step knows about sections. Values that were not
measured are hatched, or break the line; they are never drawn as 0. In reading order:

- ``draw``: choose the kind of picture, draw it, and add title, notes and source.
- ``options``: validate the arguments of ``df.aa.plot``.
- ``roles``: `PlotData`, a frame with the role of each column: label, number, time, flag.
- ``reduce``: aggregate rows that would be drawn at the same mark.
- ``estimates``, ``steps``, ``stages``: results of statistics: dots with intervals, change points,
  the stages from crawled to converted.
- ``effects``, ``funnel``, ``figures``, ``lines``, ``heatmap``, ``pairs``, ``stacks``, ``bars``,
  ``spans``: the kinds of pictures, each with a ``plan`` that returns None if it does not fit;
  ``empty`` is drawn if none does.
- ``whiskers``: the interval of each mark, and which one it is.
- ``labels``: numbers and words as text; ``canvas``: axes, title, legend, safe text; ``style``:
  colours, hatches, markers.
"""

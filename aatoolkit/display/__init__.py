"""Everything that is shown to users: charts, HTML reports and notebook widgets.

- ``plot/`` draws a DataFrame as a chart, with matplotlib or plotly (``df.aa.plot``).
- ``report/`` writes a `Dataset` as one page of HTML (``dataset.report``).
- ``widgets/`` has pickers, i.e. Jupyter widgets to choose filters and sections.
"""

"""The style sheet: light and dark screens, phones, print."""

from __future__ import annotations

STYLE = """
:root { --ink: #1f2328; --muted: #57606a; --grid: #d8dee4; --paper: #ffffff; --lack: #f6f8fa;
  --hatch: #7d8590; --link: #0b5394; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --muted: #9da7b3; --grid: #30363d;
  --paper: #0d1117; --lack: #161b22; --hatch: #8b949e; --link: #79b8ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 2rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.35rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
section, footer { border-top: 1px solid var(--grid); margin-top: 2rem; padding-top: 1.25rem; }
p { margin: .25rem 0 .75rem; overflow-wrap: anywhere; }
.lead { color: var(--muted); }
.note, small, footer { color: var(--muted); font-size: .85rem; }
.state { overflow-wrap: anywhere; }
td.state { max-width: none; min-width: 16rem; }
a { color: var(--link); }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .5rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; padding: 0; }
.statements, .failed { font-size: .9rem; padding-left: 1.2rem; overflow-wrap: anywhere; }
figure { margin: 1rem 0; max-width: 46rem; }
figure svg { display: block; width: 100%; height: auto; }
svg * { stroke-linejoin: round; stroke-linecap: butt; }
svg text { font-family: "DejaVu Sans", Verdana, system-ui, sans-serif; }
figcaption { color: var(--muted); font-size: .85rem; overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin: .75rem 0; }
.wide:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: collapse; font-size: .8rem; min-width: 50%; }
caption { text-align: left; color: var(--muted); padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; max-width: 22rem;
  border-bottom: 1px solid var(--grid); overflow-wrap: break-word; }
thead th { white-space: nowrap; }
th small { display: block; font-weight: normal; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.time { white-space: nowrap; }
.missing { color: var(--muted); background: var(--lack); text-align: center; }
summary { cursor: pointer; padding: .2rem 0; }
code { font-size: .95em; overflow-wrap: anywhere; }
@page { size: landscape; margin: 12mm; }
@media print {
  :root { --ink: #000000; --muted: #444444; --grid: #cccccc; --paper: #ffffff; --lack: #f6f8fa;
    --hatch: #666666; --link: #000000; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, .skip { display: none; }
  figure, tr { break-inside: avoid; }
  h2 { break-after: avoid; }
  thead { display: table-header-group; }
  .wide { overflow: visible; }
  table { font-size: 6.5pt; }
  th, td, thead th, .time, .number { max-width: 12rem; overflow-wrap: anywhere;
    white-space: normal; }
  small, figcaption, .note { font-size: 7pt; }
  details::details-content { content-visibility: visible; height: auto; }
  svg * { print-color-adjust: exact; }
}
"""

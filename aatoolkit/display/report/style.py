"""The style sheet of a report, for light and dark screens, phones and print."""

from collections.abc import Mapping

from aatoolkit.display.plot.style import DARK_COLOURS, LIGHT_COLOURS


def _declare_variables(colours: Mapping[str, str]) -> str:
    """Return a rule of CSS that declares colours as variables."""
    return f":root {{ {' '.join(f'--{name}: {colour};' for name, colour in colours.items())} }}"


COLOURS = (
    f"{_declare_variables(LIGHT_COLOURS)} "
    f"@media (prefers-color-scheme: dark) {{ {_declare_variables(DARK_COLOURS)} }}"
)
"""The colours of pictures and of the page, as variables of CSS for light and dark screens."""

STYLE_SHEET = """
* { box-sizing: border-box; }
h1, h2, p, small, b, a, li, dt, dd, th, td, caption, summary { unicode-bidi: isolate; }
html { scroll-padding-top: 1rem; }
body { margin: 0 auto; max-width: 64rem; padding: 1.5rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 2rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--grid); margin-top: 1.5rem; padding-top: 1rem; }
p { margin: .25rem 0 .75rem; overflow-wrap: anywhere; }
.lead { color: var(--muted); }
.note, small { color: var(--muted); font-size: .85rem; }
.paper, .many caption::after { display: none; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .75rem;
  margin: .75rem 0 1.25rem; }
.cards div { border: 1px solid var(--grid); border-radius: .4rem; padding: .6rem .8rem; }
.cards dt { color: var(--muted); font-size: .85rem; }
.cards dd { margin: 0; font-size: 1.6rem; font-weight: 600; line-height: 1.3; }
.cards a { color: inherit; text-decoration: none; }
.cards a:hover, .cards a:focus-visible { color: var(--link); text-decoration: underline; }
.cards small { display: block; font-weight: normal; }
.cards svg { display: block; width: 100%; max-width: 9rem; height: auto; margin-top: .3rem; }
td.words { max-width: none; min-width: 14rem; }
#changed ~ details thead th:nth-child(n+2):nth-child(-n+6) { text-align: right; }
a { color: var(--link); }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .5rem; }
nav ul { columns: 14rem; column-gap: 1rem; list-style: none; padding: 0; margin-top: 1rem; }
nav li { padding-left: 1.3em; text-indent: -1.3em; break-inside: avoid; }
ul { margin: .25rem 0 .75rem; padding-left: 1.2rem; overflow-wrap: anywhere; }
/* Two sections beside each other; one whose table is opened takes the whole width. */
.sections { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr));
  column-gap: 2.5rem; }
.sections > section { min-width: 0; }
.sections > section:is(:has(> [open], > .wide)) { grid-column: 1 / -1; }
/* The margins of a picture are outside, so that its words stand below those of the page. */
figure { margin: .5rem -3.46%; max-width: 30rem; }
figure img { display: block; width: 100%; height: auto; }
/* Shadows at the edges show that a table goes on; they move with it until its end is reached. */
.wide { overflow-x: auto; margin: .75rem 0; scrollbar-width: thin;
  background: linear-gradient(to right, var(--paper) 40%, transparent) left / 3rem 100%,
    linear-gradient(to left, var(--paper) 40%, transparent) right / 3rem 100%,
    linear-gradient(to right, var(--shade), transparent) left / 1rem 100%,
    linear-gradient(to left, var(--shade), transparent) right / 1rem 100%;
  background-repeat: no-repeat; background-attachment: local, local, scroll, scroll; }
table { border-collapse: collapse; font-size: .85rem; min-width: 50%; }
caption { text-align: left; color: var(--muted); padding: .25rem 0; white-space: nowrap; }
caption b { color: var(--ink); }
th, td { text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0; max-width: 22rem;
  border-bottom: 1px solid var(--grid); overflow-wrap: break-word; }
thead th { vertical-align: bottom; min-width: 4.5rem; }
tbody th { font-weight: normal; min-width: 7rem; }
th small { display: block; font-weight: normal; }
.number, .code { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
.number a { color: inherit; text-decoration: underline dotted var(--hatch) 1px;
  text-underline-offset: .2em; }
.number a:hover, .number a:focus-visible { color: var(--link); }
td.time { white-space: nowrap; }
.missing { color: var(--muted); }
summary { cursor: pointer; padding: .2rem 0; color: var(--muted); font-size: .9rem; }
details details { padding-left: 1rem; }
.why { font-size: .85rem; }
.why ul { list-style: none; padding: 0; }
.why li { padding: .15rem .3rem; }
.why li a { color: inherit; text-decoration-color: var(--grid); }
.why li p { position: sticky; top: 0; margin: 0; background: var(--paper); }
.why li span { display: block; padding-left: 1rem; scroll-margin-top: 6rem; }
:target { background: var(--target); }
h2:target { background: none; }
/* For browsers that follow a link into a fold without opening it. */
details:has(:target)::details-content { content-visibility: visible; block-size: auto; }
code { font-size: .95em; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  body { padding: 1rem; }
  .cards { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .cards dd { margin: 0; font-size: 1.3rem; }
  h1 { font-size: 1.6rem; }
  nav ul { columns: 9rem; }
  caption { white-space: normal; }
  .many caption::after { display: block; content: "More columns in the folds below"; }
  details .many caption::after { content: "More columns to the right \\2192"; }
  section > .wide :is(th, td):nth-child(n+4) { display: none; }
  section > .wide :is(th[scope], td, td.time) { min-width: 0; white-space: normal; }
  tbody th[scope="row"] { position: sticky; left: 0; background: var(--paper); max-width: 42vw;
    min-width: 8.5rem; padding-right: .5rem; overflow-wrap: anywhere; }
  summary { padding: .6rem 0; }
}
@page { size: A4; margin: 13mm 12mm; }
@media print {
  :root { color-scheme: only light; }
  :root { --ink: #000000; --muted: #444444; --grid: #cccccc; --paper: #ffffff; --lack: #f6f8fa;
    --hatch: #666666; --link: #000000; --target: #ffffff; }
  body { max-width: none; padding: 0; font-size: 9pt; line-height: 1.35; }
  nav, .skip, .screen, details:not(.table) { display: none; }
  .paper { display: block; }
  h1 { font-size: 18pt; }
  h2 { font-size: 12pt; }
  a, .number a { color: inherit; text-decoration: none; }
  section { margin-top: 3mm; padding-top: 1.5mm; }
  p { margin: .5mm 0 1mm; break-inside: avoid; }
  .cards { grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 2mm; margin: 2mm 0;
    padding-right: .3mm; }
  .cards div { padding: 1.5mm 2mm; }
  .cards dt { color: var(--muted); font-size: 8pt; }
  .cards dd { margin: 0; font-size: 13pt; }
  .sections { display: block; columns: 2; column-gap: 8mm; }
  figure { margin: 1mm -6.92% 1mm 0; max-width: none; }
  /* A page has room for three pictures below each other; their words stand where text does. */
  figure img { width: auto; max-width: 100%; max-height: 80mm; transform: translateX(-3.24%); }
  /* A table below a picture may go on in the next column, so that none stays half empty. */
  figure, tr, li, section > .wide, .cards div { break-inside: avoid; }
  h2, .note, .lead, caption, thead { break-after: avoid; }
  h2 + p, h2 + ul, caption + thead { break-before: avoid; }
  .wide { overflow: visible; background: none; margin: 1mm 0 2mm; }
  table { font-size: 7pt; min-width: 0; width: 100%; }
  th, td { padding: .4mm 1.5mm .4mm 0; overflow-wrap: normal; }
  .sections :is(th, td):nth-child(n+6) { display: none; }
  thead th { min-width: 0; }
  /* Five columns never leave their half of the page: a word that is too long for one breaks. */
  tbody :is(td:not(.number), th) { max-width: 26mm; min-width: 15mm; white-space: normal;
    overflow-wrap: anywhere; }
  tbody td.word { min-width: 17mm; }
  tbody th[scope] { max-width: none; min-width: 17mm; }
  small, .note { font-size: 7.5pt; }
  .table::details-content { content-visibility: visible; block-size: auto; }
  .table > summary { display: none; }
  img { print-color-adjust: exact; }
}
"""

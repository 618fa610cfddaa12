export const STYLE = String.raw`
:root {
  color-scheme: light dark;
  --page: #ffffff; --panel: #f8f9fa; --ink: #15181e; --soft: #5b6370; --line: #e6e8ec; --accent: #2f52d6; --accent-text: #2848c4;
  --accent-soft: #eef1fe; --chosen: #e9ebef; --mark: #fdf1d3; --code: #10182a; --code-ink: #dfe7f3; --valid: #08694b; --careful: #7a4d00;
  --invalid: #a82218; --unknown: #4f5866; --series: #5a6473; --valid-soft: #e4f5f0; --careful-soft: #fdf1d3;
  --code-line: #10182a; --string: #9fe0c0; --number: #f3c78b; --word: #9cc2ff; --comment: #8fa0b8;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #101216; --panel: #0b0d10; --ink: #e9ebef; --soft: #9aa2af; --line: #23272e; --accent: #4560e6; --accent-text: #93a8ff;
    --accent-soft: #1a2142; --chosen: #22262d; --mark: #2e2410; --code: #0a0e14; --code-ink: #dbe3ee; --valid: #5cd6a8; --careful: #f0bd55;
    --invalid: #ff9d90; --unknown: #aab2bf; --series: #a3acb9; --valid-soft: #0f2a24; --careful-soft: #2e2410;
    --code-line: #273140;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: break-word; }
a { color: var(--accent-text); text-underline-offset: 3px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: 1rem; z-index: 9; background: var(--page); padding: .5rem 1rem; }
h1, h2, h3, h4 { line-height: 1.25; margin: 0 0 .6rem; letter-spacing: -.01em; }
h1 { font-size: clamp(1.9rem, 5vw, 2.6rem); letter-spacing: -.025em; }
h2 { font-size: 1.6rem; margin-top: .2rem; }
h3, .h3 { font-size: 1.2rem; margin-top: 1.8rem; }
h4, .h4 { font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); margin-top: 1.4rem; }
p { margin: 0 0 .9rem; max-width: 46rem; }
code { font: .87em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--panel); border: 1px solid var(--line); border-radius: 4px; padding: .08em .32em; }
ol, ul { padding-left: 1.3rem; max-width: 46rem; }

.bar { position: sticky; top: 0; z-index: 5; display: flex; gap: .75rem; align-items: center; height: 3.5rem; padding: 0 1rem; background: color-mix(in srgb, var(--page) 92%, transparent); backdrop-filter: blur(8px); border-bottom: 1px solid var(--line); }
.brand { display: flex; align-items: center; gap: .5rem; font-weight: 650; color: inherit; text-decoration: none; letter-spacing: -.01em; }
.brand svg { width: 1.5rem; height: 1.5rem; }
.brand .tick { fill: none; stroke: var(--accent-text); stroke-width: 2.4; stroke-linecap: round; stroke-linejoin: round; }
.brand .envelope { fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linejoin: round; }
.bar .base { margin-left: auto; color: var(--soft); font-size: .85rem; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.bar .base code { background: none; border: 0; padding: 0; }
.app { white-space: nowrap; } .menu { display: none; font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .4rem .8rem; min-height: 2.5rem; }

.side { padding: 1rem; border-bottom: 1px solid var(--line); }
.side h2 { font-size: .75rem; text-transform: uppercase; letter-spacing: .07em; color: var(--soft); margin: 1.3rem 0 .35rem; }
.side ul { list-style: none; padding: 0; margin: 0; }
.side li a { display: flex; gap: .5rem; align-items: baseline; padding: .26rem .55rem; border-radius: 6px; color: var(--ink); text-decoration: none; font-size: .92rem; line-height: 1.4; }
.side li a:hover { background: var(--panel); }
.side li a.here { background: var(--accent-soft); color: var(--accent-text); font-weight: 550; }
.side .method { font-size: .62rem; width: 2.9rem; flex: none; text-align: right; background: none; padding: 0; }
.search { position: relative; margin-bottom: .6rem; } html:not(.js) .search { display: none; }
.search input { width: 100%; font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .5rem .75rem; min-height: 2.6rem; }
.search kbd { position: absolute; right: .6rem; top: .6rem; font: .75rem ui-monospace, monospace; color: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: .1rem .4rem; pointer-events: none; }
.search input:focus + kbd { display: none; }
.found { list-style: none; padding: 0; margin: .5rem 0 0; }
.found a { display: block !important; }
.found small { display: block; color: var(--soft); font-size: .78rem; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.found a.on { background: var(--accent-soft); }
.found mark { background: var(--mark); color: var(--ink); border-radius: 2px; }
.found .none { padding: .4rem .55rem; color: var(--soft); font-size: .9rem; }
.searching .contents { display: none; }

main { padding: 1.5rem 1rem 5rem; min-width: 0; }
.part { padding: 2.2rem 0; border-top: 1px solid var(--line); }
.operation, .shape { content-visibility: auto; contain-intrinsic-size: auto 60rem; } .shape { contain-intrinsic-size: auto 25rem; }
h1 ~ .part:not(.part ~ .part) { border-top: 0; padding-top: 1rem; }
.part > .languages, .part > .holder, .part > pre { max-width: 52rem; }
.tagline { font-size: 1.2rem; color: var(--soft); }
.lead { font-size: 1.12rem; color: var(--soft); }
.group > h2 { margin: 3.2rem 0 .3rem; padding-top: 1.6rem; border-top: 2px solid var(--line); font-size: 1.9rem; }
.anchor { color: var(--soft); text-decoration: none; margin-left: .4rem; opacity: 0; font-weight: 400; }
:is(h2, h3):hover .anchor, .anchor:focus { opacity: 1; }

.method { font: 700 .72rem ui-monospace, SFMono-Regular, Menlo, monospace; letter-spacing: .03em; padding: .22rem .5rem; border-radius: 5px; background: color-mix(in srgb, currentColor 14%, transparent); }
.get { color: var(--series); } .post { color: var(--valid); } .put { color: var(--careful); } .delete { color: var(--invalid); }
.more { font: 600 .8rem system-ui, sans-serif; color: var(--invalid); }
.route { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin: 0 0 .8rem; }
.route code { font-size: .95rem; background: none; border: 0; padding: 0; overflow-wrap: anywhere; }
.facts { display: flex; flex-wrap: wrap; gap: .45rem; margin: 0 0 1rem; padding: 0; list-style: none; max-width: none; }
.facts li { font-size: .83rem; border: 1px solid var(--line); background: var(--panel); border-radius: 14px; padding: .16rem .7rem; }
.facts .price { border-color: color-mix(in srgb, var(--careful) 45%, var(--line)); }

.fields { list-style: none; padding: 0; margin: 0; max-width: none; }
.fields > li { border-top: 1px solid var(--line); padding: .6rem 0; }
.fields .fields { margin: .5rem 0 0; padding-left: .9rem; border-left: 2px solid var(--line); }
.fields b { font: 600 .9rem ui-monospace, SFMono-Regular, Menlo, monospace; background: none; border: 0; padding: 0; }
.fields i { font-style: normal; color: var(--soft); font-size: .84rem; margin-left: .2rem; }
.fields em { font-style: normal; color: var(--invalid); font-size: .75rem; margin-left: .2rem; }
.fields p { margin: .15rem 0 0; font-size: .93rem; }
.fields .values { color: var(--soft); font-size: .85rem; margin-top: .2rem; }

.scroll { overflow-x: auto; margin: 0 0 1.2rem; border: 1px solid var(--line); border-radius: 10px; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .55rem .8rem; border-top: 1px solid var(--line); }
thead th { border-top: 0; background: var(--panel); font-size: .78rem; text-transform: uppercase; letter-spacing: .05em; color: var(--soft); white-space: nowrap; }
td code { white-space: nowrap; }
.status { display: inline-block; font: 600 .78rem ui-monospace, SFMono-Regular, Menlo, monospace; border-radius: 11px; padding: .12rem .6rem; color: var(--tone); background: color-mix(in srgb, var(--tone) 14%, transparent); white-space: nowrap; }
.is-valid { --tone: var(--valid); } .is-invalid, .is-spam_trap { --tone: var(--invalid); } .is-risky, .is-catch_all, .is-role { --tone: var(--careful); }
.is-disposable { --tone: var(--invalid); } .is-unknown, .is-pending { --tone: var(--unknown); }

pre { position: relative; margin: 0; background: var(--code); color: var(--code-ink); border: 1px solid var(--code-line); border-radius: 10px; padding: .9rem 1rem; overflow: auto; max-height: 40rem; }
pre code { background: none; border: 0; padding: 0; font-size: .82rem; line-height: 1.6; color: inherit; white-space: pre; }
pre .s { color: var(--string); } pre .n { color: var(--number); } pre .w { color: var(--word); } pre .c { color: var(--comment); }
.holder { position: relative; margin-bottom: 1.1rem; } .languages .holder, details .holder { margin-bottom: 0; }
.copy { position: absolute; top: .45rem; right: .45rem; font: .75rem system-ui, sans-serif; color: var(--code-ink); background: color-mix(in srgb, var(--code) 70%, #7f8ea3); border: 0; border-radius: 6px; padding: .35rem .65rem; opacity: 0; cursor: pointer; }
.holder:hover .copy, .copy:focus { opacity: 1; }
@media (hover: none) { .copy { opacity: .85; } }
.languages { margin: 0 0 1.2rem; }
.language { margin: 0 0 .8rem; }
.language figcaption { font-size: .8rem; color: var(--soft); margin-bottom: .25rem; }
.js .language { display: none; margin: 0; } .js .language.on { display: block; } .js .language figcaption { display: none; }
.tabs { display: flex; gap: .25rem; margin-bottom: .4rem; flex-wrap: wrap; }
.tabs button { font: .84rem system-ui, sans-serif; color: var(--soft); background: none; border: 0; border-radius: 6px; padding: .35rem .7rem; min-height: 2.1rem; cursor: pointer; }
.tabs button[aria-pressed="true"] { color: var(--accent-text); background: var(--accent-soft); font-weight: 600; }
.try { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .8rem; margin: .6rem 0 1rem; font-size: .9rem; color: var(--soft); } .ran { display: contents; } .ran pre, .ran .bad { width: 100%; max-height: 24rem; margin: 0; } .ran b { font: 700 .9rem ui-monospace, monospace; } .ran .bad { color: var(--invalid); }
.ran form { display: contents; } .try button, .ran input { font: inherit; color: var(--ink); background: var(--page); border: 1px solid var(--soft); border-radius: 8px; padding: .3rem .8rem; min-height: 2.5rem; } .ran input { margin-left: .4rem; width: 11rem; }
details { border: 1px solid var(--line); border-radius: 10px; margin: 0 0 .7rem; }
details > summary { cursor: pointer; padding: .55rem .9rem; font-size: .92rem; }
details[open] > summary { border-bottom: 1px solid var(--line); }
details > pre { border-radius: 0 0 9px 9px; border: 0; }
details > .inside { padding: .2rem .9rem .7rem; }
.fails { list-style: none; padding: 0; display: grid; gap: .3rem; } .fails a { font: .8rem ui-monospace, monospace; } .fails b { font: 600 .84rem ui-monospace, monospace; margin-right: .3rem; } :is(h4, .h4) a { color: inherit; }
.narrow { max-width: 52rem; }
.note { border-left: 3px solid var(--accent); background: var(--accent-soft); border-radius: 0 8px 8px 0; padding: .7rem 1rem; margin: 0 0 1.2rem; max-width: 46rem; }
.note p:last-child { margin: 0; }
.answer-status { font: 600 .84rem ui-monospace, monospace; margin-right: .5rem; }

.picture { margin: 0 0 1.4rem; max-width: 27rem; }
.picture svg { display: block; width: 100%; height: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 12px; padding: .6rem; }
.picture figcaption { font-size: .85rem; color: var(--soft); margin-top: .4rem; }
.box { fill: var(--page); stroke: var(--line); stroke-width: 1.3; }
.ask { fill: var(--ink); font: 500 12.4px system-ui, sans-serif; }
.text { fill: var(--ink); font: 500 12.4px system-ui, sans-serif; } .also { fill: var(--soft); font: 11.5px system-ui, sans-serif; }
.arrow { fill: none; stroke: var(--soft); stroke-width: 1.4; } .head { fill: var(--soft); } .line { stroke: var(--line); stroke-width: 2; }
.arrow.is-lost { stroke: var(--invalid); stroke-dasharray: 4 4; } .arrow.is-refused { stroke: var(--invalid); } .head.is-refused { fill: var(--invalid); }
.arrow.is-replayed { stroke: var(--valid); } .head.is-replayed { fill: var(--valid); }
.pill { fill: color-mix(in srgb, var(--tone) 16%, var(--page)); stroke: var(--tone); stroke-width: 1; } .pill-text { fill: var(--ink); font: 600 12px ui-monospace, Menlo, monospace; }
.beside { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.2rem; }
.beside td code { white-space: normal; }

@media (max-width: 640px) {
  .scroll { border: 0; border-radius: 0; overflow: visible; }
  table, tbody, tr, td { display: block; } thead { display: none; }
  tr { border: 1px solid var(--line); border-radius: 10px; padding: .55rem .8rem; margin-bottom: .6rem; }
  td { border: 0; padding: .12rem 0; } td code { white-space: normal; overflow-wrap: anywhere; }
  td:not(:first-child)::before { content: attr(data-head) ": "; color: var(--soft); font-size: .84rem; }
  pre { max-height: 24rem; }
}
@media (max-width: 899px) {
  .js .menu { display: block; } .bar .base { display: none; } .app { margin-left: auto; }
  .js .side { display: none; position: fixed; inset: 3.5rem 0 0; z-index: 4; background: var(--page); overflow-y: auto; }
  .js.menu-open .side { display: block; } .js.menu-open { overflow: hidden; }
  .side li a { padding: .5rem .55rem; font-size: 1rem; }
}
@media (min-width: 900px) {
  .frame { display: grid; grid-template-columns: 17.5rem minmax(0, 1fr); }
  .side { position: sticky; top: 3.5rem; height: calc(100vh - 3.5rem); overflow-y: auto; border: 0; border-right: 1px solid var(--line); }
  main { padding: 2.2rem clamp(1.5rem, 4vw, 4rem) 6rem; max-width: 84rem; }
  .beside { grid-template-columns: minmax(0, 1fr) minmax(0, 22rem); gap: 2rem; align-items: start; }
}
@media (min-width: 1240px) {
  .operation { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); column-gap: 3rem; }
  .operation > .talk { grid-column: 1; } .operation > .show { grid-column: 2; grid-row: 1; position: sticky; top: 4.5rem; align-self: start; max-height: calc(100vh - 5.5rem); overflow-y: auto; }
}
/* On paper: light, whole, and without what only a screen can do. */
@media print {
  :root { color-scheme: light; --code: #f6f7f9; --code-ink: #1a2330; --code-line: #e1e6ec; --string: #0f6b45; --number: #7d5006; --word: #2459b3; --comment: #566275; }
  .bar, .side, .copy, .tabs, .anchor, .try { display: none !important; }
  .frame, .operation, .beside { display: block !important; } .operation, .shape { content-visibility: visible; }
  pre { max-height: none; overflow: visible; } pre code { white-space: pre-wrap; overflow-wrap: anywhere; }
  .operation > .show { position: static !important; max-height: none !important; overflow: visible !important; }
  details::details-content { content-visibility: visible; }
  tr, .picture { break-inside: avoid; } h2, h3, h4 { break-after: avoid; }
}
`;

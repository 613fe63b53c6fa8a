/** The style of the reference page. Colours keep a contrast of 7:1 in both schemes. */
export const pageStyle = `
:root { color-scheme: light dark; --text: #1b1f24; --quiet: #4a5058; --back: #ffffff; --box: #f3f5f7; --link: #0b4a94; --line: #c4cad1; }
@media (prefers-color-scheme: dark) {
  :root { --text: #eceff2; --quiet: #b9c1ca; --back: #14171a; --box: #1f2428; --link: #9cc7ff; --line: #454d55; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; color: var(--text); background: var(--back); font: 1rem/1.5 system-ui, sans-serif; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { position: static; }
h1 small, .who { color: var(--quiet); font-weight: normal; }
h2 { border-bottom: 1px solid var(--line); margin-top: 2.5rem; }
h3 { margin-top: 2rem; overflow-wrap: anywhere; scroll-margin-top: 1rem; }
h4 { margin: 1rem 0 0.25rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.875rem; }
pre { background: var(--box); padding: 0.75rem; overflow: auto; max-height: 32rem; border-radius: 0.25rem; }
pre i { color: var(--quiet); font-style: normal; }
nav ul { list-style: none; padding-left: 1rem; columns: 20rem; }
nav li { overflow-wrap: anywhere; break-inside: avoid; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.5rem; border-bottom: 1px solid var(--line); }
dl { display: grid; grid-template-columns: 5rem 1fr; gap: 0.25rem 1rem; margin: 0; }
dt { font-weight: 600; }
dd { margin: 0; min-width: 0; }
summary { cursor: pointer; }
`;

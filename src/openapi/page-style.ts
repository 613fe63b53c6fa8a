/** The style of the reference page. Colours keep a contrast of 7:1 in both schemes. */
export const pageStyle = `
:root { color-scheme: light dark; --text: light-dark(#1b1f24, #eceff2); --quiet: light-dark(#4a5058, #b9c1ca);
  --back: light-dark(#fff, #14171a); --box: light-dark(#f3f5f7, #1f2428); --link: light-dark(#0b4a94, #9cc7ff); }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; color: var(--text); background: var(--back); font: 1rem/1.5 system-ui, sans-serif; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { position: static; }
h1 small, .who, pre i { color: var(--quiet); font-weight: normal; font-style: normal; }
h3 { margin-top: 2rem; overflow-wrap: anywhere; }
h4 { margin: 1rem 0 0.25rem; }
code, pre { font: 0.875rem ui-monospace, monospace; }
pre { background: var(--box); padding: 0.75rem; overflow: auto; max-height: 32rem; }
nav ul { list-style: none; padding-left: 1rem; columns: 20rem; }
nav li { overflow-wrap: anywhere; break-inside: avoid; }
dl { display: grid; grid-template-columns: 5rem 1fr; gap: 0.25rem 1rem; margin: 0; }
dd { margin: 0; min-width: 0; }
`;

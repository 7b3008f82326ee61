// The style sheet of all pages: light and dark, from 320 px of width, without fonts, pictures or scripts.

/** The style sheet of all pages. The Content-Security-Policy contains its hash, so it must be the same on each page. */
export const styleSheet = `
:root {
	color-scheme: light dark;
	--back: #f4f5f7; --card: #fff; --text: #1d2129; --quiet: #555c69; --line: #8a919e;
	--accent: #4450c8; --on-accent: #fff; --warn-back: #fff3d6; --warn-text: #4d3800;
}
@media (prefers-color-scheme: dark) {
	:root {
		--back: #14161a; --card: #1f2228; --text: #eceef2; --quiet: #b0b6c2; --line: #747b88;
		--accent: #aab4ff; --on-accent: #14161a; --warn-back: #3d3110; --warn-text: #ffe6a8;
	}
}
* { box-sizing: border-box; }
body {
	margin: 0; padding: 1rem; background: var(--back); color: var(--text);
	font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
main {
	max-width: 34rem; margin: 0 auto; padding: 1.25rem; background: var(--card);
	border: 1px solid var(--line); border-radius: .75rem;
}
@media (min-width: 30rem) { body { padding: 3rem 1rem; } main { padding: 2rem; } }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 0 0 .25rem; font-size: 1.125rem; }
p, dl, ul, fieldset { margin: 0 0 1rem; }
dt, .quiet { color: var(--quiet); }
dt { font-size: .875rem; }
dd { margin: 0 0 .5rem; }
dd ul, .plain { padding: 0; list-style: none; }
a { color: var(--accent); }
.warning {
	padding: .75rem 1rem; border-left: .25rem solid currentColor; border-radius: .25rem;
	background: var(--warn-back); color: var(--warn-text);
}
.item { margin: 0 0 1rem; padding: 0 0 1rem; border-bottom: 1px solid var(--line); }
fieldset { padding: 0; border: 0; }
legend { margin: 0 0 .5rem; padding: 0; font-weight: 600; }
.choice {
	display: flex; gap: .75rem; align-items: start; margin: 0 0 .5rem; padding: .75rem;
	border: 1px solid var(--line); border-radius: .5rem; cursor: pointer;
}
.choice input { flex: none; width: 1.25rem; height: 1.25rem; margin: .125rem 0 0; accent-color: var(--accent); }
.choice:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.choice strong, .choice span { display: block; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0; }
button, .button {
	display: inline-block; flex: 1 1 8rem; min-height: 2.75rem; padding: .5rem 1rem; border: 1px solid var(--line);
	border-radius: .5rem; background: none; color: inherit; font: inherit; font-weight: 600; text-align: center;
	text-decoration: none; cursor: pointer;
}
.main { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
.small { flex: none; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.delayed { animation: delay 1s; }
@keyframes delay { from, to { pointer-events: none; } }
`;

// Checks the page that Chromium shows with axe-core. https://github.com/dequelabs/axe-core

import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import type { ChromiumPage } from "../support/chromium.ts";

const source = await Bun.file(fileURLToPath(import.meta.resolve("axe-core/axe.min.js"))).text();

const colours = ["color-contrast", "link-in-text-block"];

/** Returns the problems of what is shown at three sizes, light and dark; too wide for the window is one. */
export async function violations(browser: ChromiumPage, widths = [1920, 1280, 390]): Promise<string[]> {
	const found: string[] = [];
	for (const width of widths) {
		await browser.resize(width, 900);
		for (const scheme of ["light", "dark"] as const) {
			await browser.prefer(scheme);
			// The other rules do not depend on colours.
			const problems = await violationsNow(browser, scheme === "dark" ? { type: "rule", values: colours } : undefined);
			found.push(...problems.map((problem) => `${width} ${scheme}: ${problem}`));
		}
		const root = "document.documentElement";
		const excess = await browser.evaluate<number>(`${root}.scrollWidth - ${root}.clientWidth`);
		if (excess !== 0) found.push(`${width}: ${excess} pixels too wide`);
	}
	return found;
}

async function violationsNow(browser: ChromiumPage, runOnly?: object): Promise<string[]> {
	// The DevTools protocol may evaluate what the page's content security policy forbids.
	if (!(await browser.evaluate("'axe' in globalThis"))) await browser.evaluate(`${source}; true`);
	await browser.evaluate("for (const one of document.getAnimations()) one.finish();");
	const rules = runOnly ? undefined : { "target-size": { enabled: true } };
	const options = JSON.stringify({ rules, runOnly, resultTypes: ["violations"], preload: false });
	const found = await browser.evaluate<AxeResults["violations"]>(
		`axe.run(${options}).then(({ violations }) => violations)`,
	);
	if (!found) throw new Error("axe does not answer");
	return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`));
}

/** In the page: what a person must reach with Tab. Of a group of radio buttons, one. */
const controls = `
const isShown = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0;
const modal = document.querySelector("dialog:modal") ?? document.body;
const isOther = (one) => one.type === "radio" && one !== (one.form ?? document).querySelector(
	'[name="' + one.name + '"]:checked, [name="' + one.name + '"]');
globalThis.reached ??= new WeakSet();
const controls = [...modal.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
	.filter((one) => isShown(one) && !isOther(one));`;

/** Presses Tab until all has been reached. Returns what has not. */
export async function unreachable(browser: ChromiumPage): Promise<string[]> {
	const count = (await browser.evaluate<number>(`(() => { ${controls} return controls.length; })()`)) ?? 0;
	const left = `(() => { ${controls} reached.add(document.activeElement);
		return controls.filter((one) => !reached.has(one)).map(({ outerHTML }) => outerHTML.slice(0, 120)); })()`;
	for (let presses = 0; presses < 2 * count + 10; presses += 1) {
		await browser.press("Tab");
		if ((await browser.evaluate<string[]>(left))?.length === 0) return [];
	}
	return (await browser.evaluate<string[]>(left)) ?? ["the page does not answer"];
}

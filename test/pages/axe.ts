// Checks the page that Chromium shows with axe-core. https://github.com/dequelabs/axe-core

import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import type { ChromiumPage } from "../support/chromium.ts";

const source = await Bun.file(fileURLToPath(import.meta.resolve("axe-core/axe.min.js"))).text();

/** Returns the accessibility problems of what is shown, in the color scheme and size that are set. */
export async function violations(browser: ChromiumPage): Promise<string[]> {
	// The DevTools protocol may evaluate what the page's content security policy forbids.
	if (!(await browser.evaluate("'axe' in globalThis"))) await browser.evaluate(`${source}; true`);
	await browser.evaluate("for (const one of document.getAnimations()) one.finish();");
	const found = await browser.evaluate<AxeResults["violations"]>(
		"axe.run({ rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'] }).then(({ violations }) => violations)",
	);
	if (!found) throw new Error("axe does not answer");
	return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`));
}

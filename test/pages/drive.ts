// Operates the simulator's page in Chromium as a person does: finds visible elements by selector and text, clicks,
// types and chooses.

import type { ChromiumPage } from "../support/chromium.ts";
import { until } from "../support/until.ts";

/** Helpers in the page. `find` returns the first element that is visible and contains the text. */
const helpers = `
const visible = (one) => one.checkVisibility({ visibilityProperty: true });
const plain = (one) => (one.innerText ?? "").replaceAll(/\\s+/g, " ");
const find = (selector, text, label) => [...document.querySelectorAll(selector)].find((one) =>
	visible(one) && plain(one).includes(text) && (one.ariaLabel ?? "").includes(label));
const nameOf = (one) => one.ariaLabel || [...(one.labels ?? [])].map(plain).join(" ") || one.title || plain(one) || one.labels?.[0]?.textContent || "";
`;

/** Returns actions on the simulator's page, which wait until what they act on is there. */
export function drive(browser: ChromiumPage) {
	const run = (body: string, ...given: unknown[]) =>
		browser.evaluate<boolean>(
			`((...given) => { ${helpers} const [selector, text = "", label = ""] = given; ${body} })(${given.map((one) => JSON.stringify(one)).join(", ")})`,
		);
	const retry = (what: string, body: string, ...given: unknown[]) =>
		until(`${what} ${given.join(" ")}`, () => run(body, ...given));
	const page = {
		/** Waits until a visible element that the selector selects contains the text. */
		sees: (selector: string, text: string) =>
			retry("seen", "return Boolean(find(selector, text, label));", selector, text),
		/** Waits until an element that the selector selects exists, visible or not. */
		has: (selector: string) => retry("there", "return document.querySelector(selector) !== null;", selector),
		/** Waits until no visible element that the selector selects contains the text. */
		misses: (selector: string, text: string) =>
			retry("not seen", "return !find(selector, text, label);", selector, text),
		/** Clicks the first visible and enabled element with the text, and with `label` in its label. */
		click: (selector: string, text = "", { label = "" } = {}) =>
			retry(
				"clicked",
				"const found = find(selector, text, label); if (!found || found.disabled) return false; found.scrollIntoView({ block: 'center' }); found.click(); return true;",
				...[selector, text, label],
			),
		/** Chooses an option of a menu by its value or text. */
		choose: (selector: string, value: string) =>
			retry(
				"chosen",
				"const found = find(selector, '', label); const option = found && [...found.options].find((one) => one.value === text || one.text === text); if (!option) return false; found.value = option.value; found.dispatchEvent(new Event('change', { bubbles: true })); return true;",
				...[selector, value],
			),
		/** Chooses an option of the menu with this label, in a message, and sends it. */
		async pick(message: string, menu: string, option: string): Promise<void> {
			const selector = `select[aria-label="${menu}"]`;
			await page.choose(`${message} ${selector}`, option);
			await page.click(`${message} form:has(${selector}) button`, "Choose");
		},
		/** Replaces the text of a field, with `label` in its name, by typing. */
		async fill(selector: string, text: string, label = ""): Promise<void> {
			await retry(
				"filled",
				"const found = [...document.querySelectorAll(selector)].find((one) => visible(one) && nameOf(one).includes(text)); if (!found || found.disabled) return false; found.focus(); found.select(); return document.activeElement === found;",
				...[selector, label],
			);
			await browser.type(text);
		},
		/** Writes a message, or runs the command that the text names. */
		async write(text: string): Promise<void> {
			await page.view("chat");
			await page.fill("#text", text);
			await page.click("#send");
			await retry("sent", "return find('#text', '', '')?.value !== selector;", text);
		},
		/** Waits until the focused element has this name. */
		focuses: (name: string) => retry("focused", "return nameOf(document.activeElement).includes(selector);", name),
		/** Opens a view of the page. On a wide screen, chat and channels are always visible. */
		async view(name: string): Promise<void> {
			await run("find('#views [data-view=' + selector + ']', '', '')?.click();", name);
		},
		/** Ends all animations before a screenshot. */
		settle: () => run("for (const one of document.getAnimations()) one.finish();"),
		/** Acts as the person with this name. */
		async become(name: string): Promise<void> {
			await retry(
				"became",
				"const found = document.querySelector('#person'); const option = [...found.options].find((one) => one.text.includes(selector)); if (!option) return false; found.value = option.value; found.dispatchEvent(new Event('change')); return true;",
				name,
			);
			await page.isLoaded();
		},
		/** Waits until the messages of the open channel are those that the person sees. */
		isLoaded: () => page.has("#scroll[aria-busy=false]"),
	};
	return page;
}

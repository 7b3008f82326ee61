// Operates the console in Chromium as a person does: finds elements by visible text and accessible names.

import type { ChromiumPage } from "../support/chromium.ts";
import { until } from "../support/until.ts";

/** Functions in the page that find visible elements by selector and by their text or label. */
const inPage = `
const visible = (one) => one.checkVisibility({ visibilityProperty: true });
const nameOf = (one) => one.ariaLabel ?? one.innerText ?? "";
const all = (selector, name = "") =>
	[...document.querySelectorAll(selector)].filter((one) => visible(one) && nameOf(one).includes(name));
`;

export type ConsolePage = ReturnType<typeof driveConsole>;

export function driveConsole(browser: ChromiumPage, url: string) {
	const run = <T>(body: string, ...given: unknown[]) =>
		browser.evaluate<T>(`((...given) => { ${inPage} ${body} })(...${JSON.stringify(given)})`);
	/** Repeats `body` in the page until it returns true. */
	const retry = (what: string, body: string, ...given: unknown[]) =>
		until(`${what} ${given.join(" ")}`, () => run<boolean>(body, ...given)).catch(async (error) => {
			const text = await browser.evaluate("document.body.innerText");
			throw new Error(`${error.message}; the page shows: ${text}`);
		});

	const page = {
		/** Waits until a visible element has this text. */
		sees: (text: string, selector = "body") =>
			retry("seen", "return all(given[0]).some((one) => one.innerText.includes(given[1]));", ...[selector, text]),
		/** Waits until no visible element has this text. */
		misses: (text: string, selector = "body") =>
			retry("gone", "return !all(given[0]).some((one) => one.innerText.includes(given[1]));", ...[selector, text]),
		/** Clicks the first enabled element with this name. */
		click: (selector: string, name = "") =>
			retry(
				"clicked",
				"const [one] = all(given[0], given[1]); if (!one || one.disabled) return false; one.click(); return true;",
				...[selector, name],
			),
		/** Chooses an option of a menu. */
		choose: (selector: string, value: string) =>
			retry(
				"chosen",
				"const [one] = all(given[0]); if (![...(one?.options ?? [])].some(({ value }) => value === given[1])) return false; one.value = given[1]; for (const type of ['input', 'change']) one.dispatchEvent(new Event(type, { bubbles: true })); return true;",
				...[selector, value],
			),
		/** Replaces the text of a field. */
		async fill(selector: string, text: string): Promise<void> {
			await retry(
				"focused",
				"const [one] = all(given[0]); if (!one) return false; one.focus(); one.select(); return document.activeElement === one;",
				selector,
			);
			await browser.type(text);
		},
		/** Returns the visible texts of the elements. */
		texts: async (selector: string) =>
			(await run<string[]>("return all(given[0]).map((one) => one.innerText.trim());", selector)) ?? [],
		/** Returns the value of an attribute of the first element. */
		attribute: (selector: string, name: string) =>
			run<string | null>("return all(given[0])[0]?.getAttribute(given[1]) ?? null;", ...[selector, name]),
		async open(hash = ""): Promise<void> {
			// Navigation to the same page with another fragment would not load the page again.
			await browser.send("Page.navigate", { url: "about:blank" });
			await browser.open(`${url}${hash}`, "Guildhall console");
		},
		/** Deletes the session cookie. */
		async forget(): Promise<void> {
			await browser.send("Network.clearBrowserCookies");
		},
		async signIn(token: string): Promise<void> {
			await page.open();
			await page.fill("#token", token);
			await page.click("form button", "Sign in");
			await page.sees("Signed in");
			await page.sees("connected", "#connection");
		},
		/** Opens a section by its link. */
		async section(name: string): Promise<void> {
			await page.click(`nav a[href="#${name.toLowerCase()}"]`);
			await page.sees(name, "main h2");
		},
		/** Returns the number of pixels by which the page is wider than the window. */
		overflow: () =>
			browser.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
		/** Returns accessibility problems: fields, buttons and links without a name, and more than one h1 heading. */
		unnamed: () =>
			run<string[]>(`
				const nameless = all("button, a[href], input, select, textarea, pre[tabindex], nav, table").filter((one) => {
					const labels = [...(one.labels ?? [])].map((label) => label.innerText).join("");
					const by = document.getElementById(one.getAttribute("aria-labelledby") ?? "")?.innerText;
					return !(one.ariaLabel || labels || by || one.innerText || one.caption?.textContent || "").trim();
				});
				const found = nameless.map((one) => one.outerHTML.slice(0, 200));
				if (all("h1").length !== 1 || all("main").length !== 1) found.push("not one h1 and main");
				const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
				found.push(...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => "twice: " + id));
				for (const one of document.querySelectorAll("[aria-describedby]"))
					for (const id of one.getAttribute("aria-describedby").split(" "))
						if (!document.getElementById(id)) found.push("described by nothing: " + id);
				return found;
			`),
		/** Returns the name or value of the focused element, and whether it is visible. */
		focused: () =>
			run<{ name: string; isVisible: boolean }>(`
				const one = document.activeElement;
				const { outlineStyle, outlineWidth } = getComputedStyle(one);
				const label = [...(one.labels ?? [])].map((label) => label.innerText).join("");
				return { name: (label || nameOf(one) || one.tagName).trim(), isVisible: outlineStyle === "solid" && parseFloat(outlineWidth) >= 2 };
			`),
		/** Returns everything that the page has stored, to search it for secrets. */
		kept: () =>
			run<string>(`
				const values = [...document.querySelectorAll("input, textarea")].map(({ value }) => value);
				return JSON.stringify([
					document.documentElement.outerHTML, values, location.href, document.cookie, { ...localStorage }, { ...sessionStorage }, history.state,
					performance.getEntriesByType("resource").map(({ name }) => name),
				]);
			`),
	};
	return page;
}

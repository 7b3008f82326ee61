// The pages of the sign-in: what they say, that strangers' texts stay texts, and that they work without a mouse.

import { expect, test } from "bun:test";
import { hash } from "node:crypto";
import { type ConsentPage, consentPage } from "../../../../src/gateway/oauth/pages/consent-page.ts";
import { html } from "../../../../src/gateway/oauth/pages/html.ts";
import { errorPage, redirect } from "../../../../src/gateway/oauth/pages/page.ts";
import { acceptedLanguage, said } from "../../../../src/texts/texts.ts";

const consent: ConsentPage = {
	client: { id: "https://claude.ai/oauth/metadata", name: "Claude" },
	redirectUri: "https://claude.ai/api/mcp/auth_callback",
	person: { id: "1", name: "Hanna" },
	guilds: [{ id: "2", name: "The Cooks" }],
	access: ["read", "write", "all"],
	action: "/oauth/consent?request=abc",
	csrf: "the-form-token",
};
const error = { status: 403, title: said("page.refused"), text: "Why." };

interface Element {
	tag: string;
	attributes: Record<string, string>;
}

/** What a browser sees of a page. */
async function look(response: Response) {
	const elements: Element[] = [];
	const source = await response.clone().text();
	let text = "";
	let inStyle = false;
	const rewriter = new HTMLRewriter()
		.on("*", {
			element(element) {
				const { tagName: tag, attributes } = element;
				elements.push({ tag, attributes: Object.fromEntries(attributes) });
				inStyle = tag === "style";
				if (["p", "dt", "li", "h1", "h2", "button"].includes(tag)) text += "\n";
			},
		})
		.onDocument({
			text(chunk) {
				if (!inStyle) text += chunk.text;
			},
		});
	rewriter.transform(source);
	const all = (tag: string) => elements.filter((one) => one.tag === tag);
	return { source, elements, all, text: unescaped(text) };
}

function unescaped(text: string): string {
	return text
		.replace(/&lt;/g, "<")
		.replace(/&gt;/g, ">")
		.replace(/&quot;/g, '"')
		.replace(/&#x27;/g, "'")
		.replace(/&amp;/g, "&");
}

const all: [string, () => Response][] = [
	["the consent page", () => consentPage(consent)],
	["an error page", () => errorPage(error, "en")],
];

test.each(all)("%s runs nothing, loads nothing and is not framed or kept", async (_, page) => {
	const response = page();
	const { source, elements } = await look(response);
	const [, style = ""] = /<style>(.*?)<\/style>/s.exec(source) ?? [];
	const policy = response.headers.get("content-security-policy")?.split("; ");
	expect(policy).toContain("default-src 'none'");
	expect(policy).toContain(`style-src 'sha256-${hash("sha256", style, "base64")}'`);
	expect(policy).toContain("frame-ancestors 'none'");
	expect(policy).toContain("base-uri 'none'");
	expect(policy?.some((one) => one.startsWith("form-action "))).toBe(true);
	expect(Object.fromEntries(response.headers)).toMatchObject({
		"cache-control": "no-store",
		"content-type": "text/html; charset=utf-8",
		"referrer-policy": "no-referrer",
		"x-content-type-options": "nosniff",
		"x-frame-options": "DENY",
	});
	const tags = new Set(elements.map(({ tag }) => tag));
	for (const tag of ["script", "img", "link", "iframe", "object", "base"]) expect(tags).not.toContain(tag);
	const names = elements.flatMap(({ attributes }) => Object.keys(attributes));
	expect(names.filter((name) => /^(on|style|src)/.test(name))).toEqual([]);
});

test.each(all)("%s has a language, a title, one heading, and labels", async (_, page) => {
	const { source, all } = await look(page());
	expect(source).toStartWith('<!doctype html>\n<html lang="en">');
	expect(source).toMatch(/<title>[^<]+<\/title>/);
	expect(all("h1")).toHaveLength(1);
	expect(all("main")).toHaveLength(1);
	const inputs = source.match(/<input type="radio"/g) ?? [];
	const labelled = source.match(/<label class="choice"><input type="radio"/g) ?? [];
	expect(labelled).toHaveLength(inputs.length);
	// Nothing takes the focus out of its order, and nothing needs a mouse.
	expect(source).not.toMatch(/tabindex|autofocus|accesskey/);
});

test.each<[string | null, string]>([
	["de", "de"],
	["de-AT,de;q=0.9,en;q=0.8", "de"],
	["fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5", "en"],
	["en;q=0.5, de", "de"],
	["de;q=0, en;q=0.1", "en"],
	["DE", "de"],
	["fr", "en"],
	["*", "en"],
	["", "en"],
	[null, "en"],
	["__proto__", "en"],
])("a browser that accepts %p gets %s", (header, language) => {
	expect(acceptedLanguage(header)).toBe(language as "en");
});

test("the pages are in German for who wants that, with strangers' texts as texts", async () => {
	const client = { id: "client_1", name: "<b>Evil</b>\u00010\u0001" };
	const page = await look(consentPage({ ...consent, client }, "de"));
	expect(page.source).toStartWith('<!doctype html>\n<html lang="de">');
	expect(page.text).toContain("Mit Discord angemeldet als Hanna.");
	expect(page.text).toContain("Was darf es tun?");
	expect(page.text).toContain("Jeder kann ein Programm unter diesem Namen anmelden.");
	expect(page.text).toContain("<b>Evil</b>");
	expect(page.all("b")).toEqual([]);
	expect(page.all("bdi").length).toBeGreaterThan(1);
	const back = { name: "Cursor", url: "https://claude.ai/" };
	const failed = await look(errorPage({ ...error, back }, "de"));
	expect(failed.text).toContain("Du kannst dich hier nicht anmelden");
	expect(failed.text).toContain("Zurück zu Cursor");
});

test("the consent page says who asks, where it leads, for which guilds and what", async () => {
	const response = consentPage(consent);
	expect(response.status).toBe(200);
	const { text, all } = await look(response);
	expect(text).toContain("Connect Claude?");
	expect(text).toContain("Signed in with Discord as Hanna.");
	expect(text).toContain("claude.ai, which states this name");
	expect(text).toContain("Sends you back to\nclaude.ai".replace("\n", ""));
	expect(text).toContain("\nThe Cooks");
	expect(all("p").some(({ attributes }) => attributes.class === "warning")).toBe(false);
	expect(all("form").map(({ attributes }) => attributes)).toEqual([
		{ method: "post", action: "/oauth/consent?request=abc" },
	]);
	expect(all("input").map(({ attributes }) => attributes)).toEqual([
		{ type: "hidden", name: "csrf", value: "the-form-token" },
		{ type: "radio", name: "access", value: "read", checked: "" },
		{ type: "radio", name: "access", value: "write" },
		{ type: "radio", name: "access", value: "all" },
	]);
	// Enter in a form presses its first button.
	expect(all("button").map(({ attributes }) => attributes.value)).toEqual(["deny", "allow"]);
});

test.each<[string, Partial<ConsentPage>, string]>([
	[
		"registered itself",
		{ client: { id: "client_1", name: "Claude" } },
		"Anyone can register a program under this name.",
	],
	["leads to an app", { redirectUri: "cursor://x/callback" }, "any app on this device can claim them"],
	[
		"leads to this computer",
		{ redirectUri: "http://127.0.0.1:1234/callback" },
		"any program can pretend to be this one",
	],
])("the consent page warns if the client %s", async (_, change, warning) => {
	const { text, all } = await look(consentPage({ ...consent, ...change }));
	expect(text).toContain(warning);
	expect(all("p").filter(({ attributes }) => attributes.class === "warning")).toHaveLength(1);
});

test("only what is offered can be chosen, and the least is chosen at first", async () => {
	const { all } = await look(consentPage({ ...consent, access: ["read"] }));
	expect(all("input").map(({ attributes }) => attributes.value)).toEqual(["the-form-token", "read"]);
});

test("the consent page names 20 guilds, and the number of the others", async () => {
	const guilds = Array.from({ length: 25 }, (_, n) => ({ id: `${n}`, name: `Guild ${n}.` }));
	const { text } = await look(consentPage({ ...consent, guilds }));
	expect(text).toContain("Guild 19.");
	expect(text).not.toContain("Guild 20.");
	expect(text).toContain("and 5 more");
});

test.each([
	["https://claude.ai/callback", ["'self'", "https:", "claude:"]],
	["http://127.0.0.1:1234/callback", ["'self'", "https:", "http:"]],
	["http://[::1]:1234/callback", ["'self'", "https:", "http:"]],
	["com.example.app:/callback", ["'self'", "https:", "com.example.app:"]],
])("the form may lead to %s, and from there on", (redirectUri, sources) => {
	const { headers } = consentPage({ ...consent, redirectUri });
	const [, policy = ""] = /form-action ([^;]*)/.exec(headers.get("content-security-policy") ?? "") ?? [];
	expect(policy.split(" ")).toEqual(expect.arrayContaining(sources));
	expect(policy).not.toContain("*");
	if (!redirectUri.startsWith("http:")) expect(policy.split(" ")).not.toContain("http:");
});

test("an error page has a link back to the client only if it is given", async () => {
	const response = errorPage(error, "en");
	expect(response.status).toBe(403);
	expect((await look(response)).all("a")).toEqual([]);
	const back = { name: "Claude", url: 'https://claude.ai/cb?error="x"&state=<y>' };
	const { all } = await look(errorPage({ ...error, back }, "en"));
	const [link] = all("a");
	expect(unescaped(link?.attributes.href ?? "")).toBe(back.url);
	expect(link?.attributes.rel).toBe("noreferrer");
});

const hostile: [string, string, string][] = [
	["markup", "<b>x</b><script>alert(1)</script>", "<b>x</b><script>alert(1)</script>"],
	["the end of the title", "</title><script>x</script>", "</title><script>x</script>"],
	["the end of an attribute", '" onfocus="x" \'`', '" onfocus="x" \'`'],
	["an entity", "&lt;b&gt; &amp;", "&lt;b&gt; &amp;"],
	["a reversed text", "Claude\u202ecod.exe", "Claude\\u{202e}cod.exe"],
	["isolated directions", "\u2067x\u2069\u200f", "\\u{2067}x\\u{2069}\\u{200f}"],
	["invisible characters", "Clau\u200bde\u2060\ufeff\u{e0041}", "Clau\\u{200b}de\\u{2060}\\u{feff}\\u{e0041}"],
	["several lines", "Claude\n\nVerified by Discord", "Claude  Verified by Discord"],
	["a terminal's control", "\u001b[31mred\u0000", " [31mred "],
	["too much", "W".repeat(3000), "W".repeat(100)],
	["half a character", "x\ud83d", "x\\u{d83d}"],
];

test.each(hostile)("%s in a name stays text", async (_, name, expected) => {
	const guilds = [{ id: "1", name }];
	const person = { id: "1", name };
	const client = { id: "client_1", name: name.slice(0, 100) };
	const pages: [Response, Response, number][] = [
		[
			consentPage({ ...consent, client, person, guilds }),
			consentPage({ ...consent, client: { ...client, name: "x" } }),
			3,
		],
		[
			errorPage({ ...error, back: { name, url: "https://claude.ai/" } }, "en"),
			errorPage({ ...error, back: { name: "x", url: "https://claude.ai/" } }, "en"),
			1,
		],
	];
	for (const [page, harmless, count] of pages) {
		const { elements, text, source } = await look(page);
		const tags = (all: readonly Element[]) => all.map(({ tag, attributes }) => `${tag} ${Object.keys(attributes)}`);
		expect(tags(elements)).toEqual(tags((await look(harmless)).elements));
		expect(text.split(expected).length - 1).toBeGreaterThanOrEqual(count);
		expect(source).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\u200f\ufeff\0]/);
	}
});

test("texts are escaped unless they are HTML, also in lists", () => {
	const { text } = html`<p a="${"\"<&'>"}">${undefined}${3}${["<", html`<br>`, ["&"]]}</p>`;
	expect(text).toBe('<p a="&quot;&lt;&amp;&#x27;&gt;">3&lt;<br>&amp;</p>');
});

test("a redirect is not kept either", () => {
	const { status, headers } = redirect("https://claude.ai/", "a=b; Path=/");
	expect(status).toBe(303);
	expect(Object.fromEntries(headers)).toMatchObject({
		location: "https://claude.ai/",
		"cache-control": "no-store",
		"referrer-policy": "no-referrer",
		"set-cookie": "a=b; Path=/",
	});
});

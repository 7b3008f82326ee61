// An MCP App in the extension's reference host, in a browser: the real gateway and bot, with the simulator as Discord.
// clients.test.ts runs this file in a process of its own.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { chromium, openChromium } from "../support/chromium.ts";
import { gatewayToken, startTestGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { roleNamed, startWorld } from "../support/world.ts";

/** The restrictive default of the extension's specification, "Host Behavior". */
const policy =
	"default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";

/** The sandbox proxy of web hosts: https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx#sandbox-proxy */
const sandbox = `<!doctype html><title>sandbox</title><body><script>
	const inner = document.createElement("iframe");
	inner.sandbox = "allow-scripts allow-same-origin allow-forms";
	document.body.append(inner);
	addEventListener("message", ({ source, data }) => {
		if (source !== parent) return parent.postMessage(data, "*");
		if (data.method !== "ui/notifications/sandbox-resource-ready") return inner.contentWindow.postMessage(data, "*");
		const { contentDocument: page } = inner;
		page.open();
		page.write(data.params.html);
		page.close();
	});
	parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} }, "*");
</script>`;

const html = (text: string, headers = {}) =>
	new Response(text, { headers: { "Content-Type": "text/html", ...headers } });

interface FrameTree {
	frame: { id: string };
	childFrames?: FrameTree[];
}

async function start(toml: object = {}) {
	await using stack = new AsyncDisposableStack();
	const world = stack.use(await startWorld({}, { mcpToken: gatewayToken, toml: toml as never }));
	const built = await Bun.build({ entrypoints: [join(import.meta.dir, "app-host.ts")], target: "browser" });
	const routes = {
		"/": () => html('<!doctype html><title>host</title><body><script type="module" src="/host.js"></script>'),
		"/host.js": new Response(built.outputs[0], { headers: { "Content-Type": "text/javascript" } }),
		"/sandbox": () => html(sandbox, { "Content-Security-Policy": policy }),
	};
	const [host = "", proxy] = [1, 2].map(() => {
		const http = Bun.serve({ port: 0, hostname: "127.0.0.1", routes });
		stack.defer(() => http.stop(true));
		return http.url.origin;
	});
	const alpha = { url: new URL(world.bot.url).origin };
	const gateway = stack.use(await startTestGateway({ alpha }, { env: { MCP_ALLOWED_ORIGINS: host } }));
	const browser = stack.use(await openChromium());
	await browser.open(host, "host");
	await until("the host is loaded", () => browser.evaluate<boolean>("typeof start === 'function'"));
	const running = stack.move();
	/** Evaluates an expression in the page of the latest App, which is in the frame of the sandbox. */
	async function inApp(expression: string): Promise<unknown> {
		const { frameTree } = (await browser.send("Page.getFrameTree")) as { frameTree: FrameTree };
		const { id: frameId } = frameTree.childFrames?.at(-1)?.childFrames?.[0]?.frame ?? {};
		if (frameId === undefined) return "";
		const { executionContextId: contextId } = await browser.send("Page.createIsolatedWorld", { frameId });
		const { result } = await browser.send("Runtime.evaluate", { expression, contextId, returnByValue: true });
		return Object(result).value;
	}
	const text = async () => String(await inApp("document.body.innerText"));
	return {
		world,
		browser,
		inApp,
		text,
		seen: async () => JSON.parse((await browser.evaluate<string>("JSON.stringify(seen)")) ?? ""),
		shows: (expected: string) => until(`"${expected}" is shown`, async () => (await text()).includes(expected)),
		/** Has the host call plan_guild, as its model would, and show the page. */
		async plan(document: object) {
			const given = [
				`${gateway.url}/mcp`,
				gatewayToken,
				`${proxy}/sandbox`,
				"plan_guild",
				{ instance: "alpha", document },
			];
			await browser.evaluate(`start(...${JSON.stringify(given)})`);
		},
		/** As a person does it. */
		async pressApprove() {
			await until("the button has the focus", async () => {
				await browser.press("Tab");
				return inApp("document.activeElement.textContent === 'Approve'");
			});
			await browser.press("Enter");
		},
		[Symbol.asyncDispose]: () => running.disposeAsync(),
	};
}

const markup = "<img src=x onerror=parent.hacked=1>";
const document = { roles: [{ name: "Mods", permissions: ["KICK_MEMBERS"] }, { name: markup }] };
const button = "document.querySelector('button')";

test.skipIf(!chromium)("the plan is shown as text, and carried out when the person presses Approve", async () => {
	await using app = await start();
	// A plan without steps has no button.
	await app.plan({ roles: [{ name: "alpha" }] });
	await app.shows("There is nothing to do.");
	expect(await app.inApp(button)).toBeNull();
	await app.plan(document);
	await app.shows("Approve");
	const text = await app.text();
	expect(text).toStartWith("Plan for The Cooks ");
	expect(text).toContain("+ role Mods: permissions KICK_MEMBERS");
	expect(text).toContain(markup);
	expect(text).not.toContain("plan_hash");
	expect(await app.inApp("document.querySelectorAll('img, a, script[src], link').length")).toBe(0);
	// The dark theme of the host.
	expect(await app.inApp("getComputedStyle(document.body).color")).toBe("rgb(236, 238, 242)");
	const before = await app.seen();
	// Without domains for the network.
	expect(before).toMatchObject({ page: { mimeType: "text/html;profile=mcp-app" }, calls: [], contexts: [] });
	expect(before.page.csp).toBeUndefined();
	expect(before.height).toBeGreaterThan(50);
	expect(() => roleNamed(app.world, "Mods")).toThrow();

	await app.pressApprove();
	await app.shows("Job ");
	expect(roleNamed(app.world, "Mods")).toBeDefined();
	const { calls } = await app.seen();
	const { plan_hash } = calls[0].arguments;
	expect(calls).toEqual([{ name: "apply_guild", arguments: { plan_hash, instance: "alpha" } }]);
	expect(await app.text()).toContain(`plan_hash=${plan_hash}`);
	const told = `pressed Approve at the plan ${plan_hash}`;
	await until("the model is told", async () => JSON.stringify((await app.seen()).contexts).includes(told));
	expect(await app.inApp(button)).toBeNull();
	// The host replaces the handler of its library on purpose.
	expect(app.browser.problems.filter((one) => !one.includes("oncalltool handler replaced"))).toEqual([]);
});

test.skipIf(!chromium)("a press is no approval: the bot's rule for approvals stays", async () => {
	await using app = await start({ mcp: { approval: "destructive", approval_for_root: true } });
	await app.plan(document);
	await app.shows("Approve");
	await app.pressApprove();
	await app.shows("apply_guild needs the approval of a person");
	expect(() => roleNamed(app.world, "Mods")).toThrow();
});

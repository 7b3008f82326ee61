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
	const script = await built.outputs[0]?.text();
	const serve = (fetch: (request: Request) => Response) => {
		const http = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
		stack.defer(() => http.stop(true));
		return http.url.origin;
	};
	const proxy = serve(() => html(sandbox, { "Content-Security-Policy": policy }));
	const host = serve(({ url }) =>
		url.endsWith(".js")
			? new Response(script, { headers: { "Content-Type": "text/javascript" } })
			: html('<!doctype html><title>host</title><body><script type="module" src="/host.js"></script>'),
	);
	const alpha = { url: new URL(world.bot.url).origin };
	const gateway = stack.use(await startTestGateway({ alpha }, { env: { MCP_ALLOWED_ORIGINS: host } }));
	const browser = stack.use(await openChromium());
	await browser.open(`${host}/`, "host");
	await until("the host is loaded", () => browser.evaluate<boolean>("typeof start === 'function'"));
	const running = stack.move();
	/** Evaluates an expression in the page of the App, which is in the frame of the sandbox. */
	async function inApp<T>(expression: string): Promise<T | undefined> {
		const { frameTree } = (await browser.send("Page.getFrameTree")) as { frameTree: FrameTree };
		const frameId = frameTree.childFrames?.[0]?.childFrames?.[0]?.frame.id;
		if (frameId === undefined) return undefined;
		const { executionContextId } = await browser.send("Page.createIsolatedWorld", { frameId });
		const options = { expression, contextId: executionContextId, returnByValue: true };
		const { result } = (await browser.send("Runtime.evaluate", options)) as { result: { value?: T } };
		return result.value;
	}
	const seen = async () => JSON.parse((await browser.evaluate<string>("JSON.stringify(seen)")) ?? "");
	return {
		world,
		browser,
		seen,
		inApp,
		text: () => inApp<string>("document.body.innerText"),
		/** Has the host call plan_guild, as its model would, and show the page. */
		plan: (document: object) =>
			browser.evaluate(
				`start(${[`${gateway.url}/mcp`, gatewayToken, `${proxy}/`, "plan_guild", { instance: "alpha", document }].map((one) => JSON.stringify(one)).join()})`,
			),
		/** As a person does it. */
		async pressApprove() {
			await until("the button has the focus", async () => {
				await browser.press("Tab");
				return inApp<boolean>("document.activeElement.textContent === 'Approve'");
			});
			await browser.press("Enter");
		},
		[Symbol.asyncDispose]: () => running.disposeAsync(),
	};
}

const markup = "<img src=x onerror=parent.hacked=1>";
const document = { roles: [{ name: "Mods", permissions: ["KICK_MEMBERS"] }, { name: markup }] };

test.skipIf(!chromium)("the plan is shown as text, and carried out when the person presses Approve", async () => {
	await using app = await start();
	await app.plan(document);
	await until("the plan is shown", async () => (await app.text())?.includes("Approve"));
	const text = await app.text();
	expect(text).toStartWith("Plan for The Cooks ");
	expect(text).toContain("+ role Mods: permissions KICK_MEMBERS");
	expect(text).toContain(markup);
	expect(await app.inApp("document.querySelectorAll('img, a, script[src], link').length")).toBe(0);
	// The dark theme of the host.
	expect(await app.inApp("getComputedStyle(document.body).color")).toBe("rgb(236, 238, 242)");
	const before = await app.seen();
	expect(before).toMatchObject({ mimeType: "text/html;profile=mcp-app", calls: [], contexts: [] });
	expect(before.csp).toBeUndefined();
	expect(before.heights.at(-1)).toBeGreaterThan(50);
	expect(() => roleNamed(app.world, "Mods")).toThrow();

	expect(text).not.toContain("plan_hash");
	await app.pressApprove();
	await until("the job is shown", async () => (await app.text())?.startsWith("Job "));
	expect(roleNamed(app.world, "Mods")).toBeDefined();
	const after = await app.seen();
	const { plan_hash } = after.calls[0].arguments;
	expect(after.calls).toEqual([{ name: "apply_guild", arguments: { plan_hash, instance: "alpha" } }]);
	expect(await app.text()).toContain(`plan_hash=${plan_hash}`);
	await until("the model is told", async () => (await app.seen()).contexts.length > 0);
	expect(JSON.stringify((await app.seen()).contexts)).toContain(`pressed Approve at the plan ${plan_hash}`);
	expect(await app.inApp("document.querySelector('button')")).toBeNull();
	// The host replaces the handler of its library on purpose.
	expect(app.browser.problems.filter((one) => !one.includes("oncalltool handler replaced"))).toEqual([]);
});

test.skipIf(!chromium)("a plan without steps, and what is no plan, have no button", async () => {
	await using app = await start();
	await app.plan({ roles: [{ name: "alpha" }] });
	await until("the plan is shown", async () => (await app.text())?.includes("There is nothing to do."));
	expect(await app.inApp("document.querySelector('button')")).toBeNull();
});

test.skipIf(!chromium)("a press is no approval: the bot's rule for approvals stays", async () => {
	await using app = await start({ mcp: { approval: "destructive", approval_for_root: true } });
	await app.plan(document);
	await until("the plan is shown", async () => (await app.text())?.includes("Approve"));
	await app.pressApprove();
	await until("it says so", async () => (await app.text())?.includes("apply_guild needs the approval of a person"));
	expect(() => roleNamed(app.world, "Mods")).toThrow();
});

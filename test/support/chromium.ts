// A headless Chromium that a test drives with keys, by the DevTools protocol.
// https://chromedevtools.github.io/devtools-protocol/

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eachLine } from "../../src/lib/program/lines.ts";
import { until } from "./until.ts";

export const chromium = Bun.which("chromium");

/** Keys by name: their code, and the text that they type. */
const keys = {
	Tab: { code: 9, text: "" },
	Enter: { code: 13, text: "\r" },
	Space: { code: 32, text: " " },
	Escape: { code: 27, text: "" },
	ArrowUp: { code: 38, text: "" },
	ArrowDown: { code: 40, text: "" },
} as const;

type Result = Record<string, unknown>;

export type ChromiumPage = Awaited<ReturnType<typeof openChromium>>;

/** Starts Chromium with an empty page of this size. */
export async function openChromium(size = { width: 800, height: 900 }) {
	const profile = await mkdtemp(join(tmpdir(), "guildhall-chromium-"));
	// Chromium is many times slower with libfaketime (shifted-clock.ts), and nothing here depends on its clock.
	const { LD_PRELOAD: _, ...env } = process.env;
	const child = Bun.spawn(
		[
			chromium ?? "",
			"--headless",
			"--disable-gpu",
			"--no-first-run",
			"--disable-dev-shm-usage",
			`--user-data-dir=${profile}`,
			"--remote-debugging-port=0",
			"--no-proxy-server",
			// Chromium's own sandbox does not run as root.
			...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
			"about:blank",
		],
		{ stdout: "ignore", stderr: "pipe", env },
	);
	const address = Promise.withResolvers<string>();
	void eachLine(child.stderr, (line) => {
		const [, url] = /^DevTools listening on (ws:\S+)$/.exec(line) ?? [];
		if (url) address.resolve(url);
	});
	void child.exited.then((code) => address.reject(new Error(`chromium ended with ${code}`)));
	const socket = new WebSocket(await address.promise);
	await new Promise((resolve) => socket.addEventListener("open", resolve));

	/** What the page wrote to its console as an error or warning, and its uncaught exceptions. */
	const problems: string[] = [];
	let ids = 0;
	const waiting = new Map<number, PromiseWithResolvers<Result>>();
	socket.addEventListener("message", ({ data }) => {
		const { id, result, error, method, params } = JSON.parse(String(data));
		if (method !== undefined) problems.push(...problemsIn(method, params));
		const caller = waiting.get(id);
		if (error) caller?.reject(new Error(error.message));
		else caller?.resolve(result);
		waiting.delete(id);
	});
	let sessionId: unknown;
	function send(method: string, params: Result = {}): Promise<Result> {
		const id = ++ids;
		const answer = Promise.withResolvers<Result>();
		waiting.set(id, answer);
		const session = sessionId === undefined ? {} : { sessionId };
		socket.send(JSON.stringify({ id, method, params, ...session }));
		return answer.promise;
	}

	const { targetInfos } = await send("Target.getTargets");
	const [target] = (targetInfos as { type: string; targetId: string }[]).filter(({ type }) => type === "page");
	const attached = await send("Target.attachToTarget", { targetId: target?.targetId, flatten: true });
	sessionId = attached.sessionId;
	await send("Runtime.enable");
	await send("Log.enable");
	const resize = (width: number, height: number) =>
		send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
	await resize(size.width, size.height);

	/** Returns the value of an expression in the page, or of its promise; undefined while the page is being replaced. */
	async function evaluate<T>(expression: string): Promise<T | undefined> {
		const options = { expression, returnByValue: true, awaitPromise: true };
		const answer = await send("Runtime.evaluate", options).catch(() => undefined);
		const { value } = (answer?.result ?? {}) as { value?: T };
		return value;
	}

	return {
		socket,
		send,
		evaluate,
		resize,
		problems,
		/** Sets the color scheme that the page's user prefers. */
		prefer: (scheme: "light" | "dark") =>
			send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] }),
		/** Types a text into the focused field. */
		type: (text: string) => send("Input.insertText", { text }),
		/** Writes a screenshot of the page as a PNG file with few colors, which is a third as large. */
		async screenshot(path: string): Promise<void> {
			const { data } = await send("Page.captureScreenshot", { format: "png" });
			const shot = new Bun.Image(Buffer.from(String(data), "base64"));
			const small = shot.png({ palette: true, colors: 128 });
			await Bun.write(path, await small.bytes());
		},
		/** Opens an address, and waits until the page with this title is there. */
		async open(url: string, title: string): Promise<void> {
			await send("Page.navigate", { url });
			await this.arrive(title);
		},
		/** Waits until a page with this title is there. */
		async arrive(title: string): Promise<void> {
			await until(`the page "${title}"`, async () => {
				const found = await evaluate<string>("document.readyState === 'complete' ? document.title : ''");
				return found?.includes(title);
			});
		},
		async press(key: keyof typeof keys, { shift = false } = {}): Promise<void> {
			const { code, text } = keys[key];
			const event = {
				key: key === "Space" ? " " : key,
				code: key,
				windowsVirtualKeyCode: code,
				modifiers: shift ? 8 : 0,
			};
			await send("Input.dispatchKeyEvent", {
				...event,
				type: text === "" ? "rawKeyDown" : "keyDown",
				...(text !== "" && { text }),
			});
			await send("Input.dispatchKeyEvent", { ...event, type: "keyUp" });
		},
		async [Symbol.asyncDispose]() {
			socket.close();
			child.kill();
			await child.exited;
			await rm(profile, { recursive: true, force: true });
		},
	};
}

/**
 * Returns the problem that an event of the DevTools protocol reports. Failed requests are none: Chromium logs each, also
 * those that a page expects, such as a refused one, or one to a server that restarts.
 */
function problemsIn(method: string, params: Result): string[] {
	if (method === "Runtime.exceptionThrown") return [`exception: ${JSON.stringify(params.exceptionDetails)}`];
	if (method === "Runtime.consoleAPICalled")
		return ["error", "warning", "assert"].includes(String(params.type))
			? [`console: ${JSON.stringify(params.args)}`]
			: [];
	if (method !== "Log.entryAdded") return [];
	const entry = params.entry as { level: string; source: string; text: string };
	const counts = ["error", "warning"].includes(entry.level);
	return counts && entry.source !== "network" ? [`${entry.source}: ${entry.text}`] : [];
}

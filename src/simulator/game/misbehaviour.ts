// The ways in which the game server can misbehave.

export const gameRoutes = ["POST /api/verify", "GET /api/donators", "POST /api/ban"] as const;

export type GameRoute = (typeof gameRoutes)[number];

export interface GameResponse {
	status: number;
	body: unknown;
}

export const longError = "@everyone @here <@1> <@&1> ``` **[x](https://x.example)**\n".repeat(100).slice(0, 5000);

const hugeBytes = 64 * 1024 * 1024;
const largeBytes = 64 * 1024 + 1;
const trickleBytes = 60;
const trickleEveryMs = 500;

interface ResponseContext {
	donators: readonly unknown[];
	released: Promise<void>;
}

const refusal = (error: string, status: number) => () => Response.json({ success: false, error }, { status });

const json = (text: string) => new Response(text, { headers: { "content-type": "application/json" } });

/** The faults that replace the response. What each does is in the README. */
export const wrongResponses = {
	cut: () =>
		new Response(
			new ReadableStream({
				async start(controller) {
					controller.enqueue('{"success":true,"usern');
					// Let the first part leave before the connection closes.
					await Bun.sleep(1);
					controller.error(undefined);
				},
			}),
			{ headers: { "content-type": "application/json" } },
		),
	huge: () => json(`{"success":true,"username":"${"x".repeat(hugeBytes)}"}`),
	large: () => {
		const padding = "x".repeat(largeBytes);
		const found = { success: true, username: "Steve", uuid: "u" };
		return json(JSON.stringify({ ...found, donators: [], padding }));
	},
	html: () =>
		new Response("<!doctype html><title>Welcome to nginx!</title>", { headers: { "content-type": "text/html" } }),
	"204": () => new Response(null, { status: 204 }),
	"401": refusal("Unauthorized", 401),
	"403": refusal("Forbidden", 403),
	"404": () => new Response("404 page not found\n", { status: 404 }),
	"500": () => new Response("Internal Server Error", { status: 500 }),
	redirect: () => new Response(null, { status: 307, headers: { location: "/elsewhere" } }),
	"wrong-types": () => Response.json({ success: "yes", username: 7, uuid: null, error: [], donators: "everyone" }),
	"no-error": () => Response.json({ success: false }),
	"no-username": () => Response.json({ success: true, uuid: "5fd3b08c-3a53-4b1b-9d7e-2f8a5b1d6c00" }),
	"long-error": refusal(longError, 200),
	"refused-400": refusal("The code has the wrong form.", 400),
	"refused-404": refusal("This code is not known.", 404),
	"refused-409": refusal("This account is linked already.", 409),
	"no-donators": () => Response.json({ donators: [] }),
	"wrong-donators": () =>
		Response.json({
			donators: [
				{ chat_id: 7, tier: null, uuid: [], username: {} },
				{ chat_id: "not an id", tier: "premium" },
				"someone",
				null,
			],
		}),
	"fewer-donators": ({ donators }) => Response.json({ donators: donators.slice(0, Math.floor(donators.length / 4)) }),
} satisfies Record<string, (context: ResponseContext) => Response>;

export type Misbehaviour = keyof typeof wrongResponses | "slow" | "trickle";

export const misbehaviours = ["slow", "trickle", ...Object.keys(wrongResponses)] as readonly Misbehaviour[];

/** Sends a response byte by byte. When the test calls `behave()`, the rest is sent at once. */
export function trickle({ status, body }: GameResponse, { released }: Pick<ResponseContext, "released">): Response {
	// Leading spaces are valid JSON.
	const bytes = Buffer.from(JSON.stringify(body).padStart(trickleBytes));
	let sent = 0;
	let isReleased = false;
	void released.then(() => {
		isReleased = true;
	});
	const stream = new ReadableStream<Uint8Array>({
		async pull(controller) {
			if (!isReleased && sent > 0) await Promise.race([Bun.sleep(trickleEveryMs), released]);
			const end = isReleased ? bytes.length : sent + 1;
			controller.enqueue(bytes.subarray(sent, end));
			sent = end;
			if (sent >= bytes.length) controller.close();
		},
	});
	return new Response(stream, { status, headers: { "content-type": "application/json" } });
}

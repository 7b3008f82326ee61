// What a game server can answer wrongly, or in a way that is right and rarely met.

export const gameRoutes = [
	"POST /api/verify",
	"GET /api/donators",
	"POST /api/ban",
] as const;

export type GameRoute = (typeof gameRoutes)[number];

/** An answer as it should be. */
export interface GameAnswer {
	readonly status: number;
	readonly body: unknown;
}

export const misbehaviours = [
	/** No answer until `behave` or `close`; then the right one. */
	"slow",
	/** The right answer, a byte at a time, for about 30 s. */
	"trickle",
	/** The connection ends in the middle of the answer. */
	"cut",
	/** An answer of 64 MB. */
	"huge",
	/** Well-formed JSON of a little more than 64 KiB. */
	"large",
	/** An error page with status 200. */
	"html",
	/** Status 204, and no body. */
	"204",
	"401",
	"403",
	/** Without JSON. */
	"404",
	"500",
	/** To a path that does not exist. */
	"redirect",
	/** JSON of the right fields with the wrong types. */
	"wrong-types",
	/** `{"success":false}`, and no more. */
	"no-error",
	/** `{"success":true}` with the uuid, and no username. */
	"no-username",
	/** A refusal with `longError`. */
	"long-error",
	/** A refusal in the right form, with these statuses. */
	"refused-400",
	"refused-404",
	"refused-409",
	/** A list without anyone. */
	"no-donators",
	/** A list of things that are no donators. */
	"wrong-donators",
	/** Only the first quarter of the right list. */
	"fewer-donators",
] as const;

export type Misbehaviour = (typeof misbehaviours)[number];

/** An error text of 5,000 characters that would mention everyone, and break out of what it is put in. */
export const longError =
	"@everyone @here <@1> <@&1> ``` **[x](https://x.example)**\n"
		.repeat(100)
		.slice(0, 5000);

const hugeBytes = 64 * 1024 * 1024;
const largeBytes = 64 * 1024 + 1;
const trickleBytes = 60;
const trickleEveryMs = 500;

/** What an answer is made from. */
export interface Occasion {
	/** What `GET /api/donators` would list. */
	readonly donators: readonly unknown[];
	/** Resolves when the server is to behave again. */
	readonly released: Promise<void>;
}

const refusal = (error: string, status: number) => () =>
	Response.json({ success: false, error }, { status });

const json = (text: string) =>
	new Response(text, { headers: { "content-type": "application/json" } });

/** The wrong answers that have nothing to do with the right one. */
export const wrongAnswers: Readonly<
	Record<
		Exclude<Misbehaviour, "slow" | "trickle">,
		(occasion: Occasion) => Response
	>
> = {
	cut: () =>
		new Response(
			new ReadableStream({
				async start(controller) {
					controller.enqueue('{"success":true,"usern');
					// What is cut off must not keep company with what was sent: let that leave first.
					await Bun.sleep(1);
					controller.error(undefined);
				},
			}),
			{ headers: { "content-type": "application/json" } },
		),
	huge: () => json(`{"success":true,"username":"${"x".repeat(hugeBytes)}"}`),
	large: () =>
		json(
			JSON.stringify({
				success: true,
				username: "Steve",
				uuid: "u",
				donators: [],
				padding: "x".repeat(largeBytes),
			}),
		),
	html: () =>
		new Response("<!doctype html><title>Welcome to nginx!</title>", {
			headers: { "content-type": "text/html" },
		}),
	"204": () => new Response(null, { status: 204 }),
	"401": refusal("Unauthorized", 401),
	"403": refusal("Forbidden", 403),
	"404": () => new Response("404 page not found\n", { status: 404 }),
	"500": () => new Response("Internal Server Error", { status: 500 }),
	redirect: () =>
		new Response(null, { status: 307, headers: { location: "/elsewhere" } }),
	"wrong-types": () =>
		Response.json({
			success: "yes",
			username: 7,
			uuid: null,
			error: [],
			donators: "everyone",
		}),
	"no-error": () => Response.json({ success: false }),
	"no-username": () =>
		Response.json({
			success: true,
			uuid: "5fd3b08c-3a53-4b1b-9d7e-2f8a5b1d6c00",
		}),
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
	"fewer-donators": ({ donators }) =>
		Response.json({
			donators: donators.slice(0, Math.floor(donators.length / 4)),
		}),
};

/** The right answer, slowly; all that is left of it at once when the server is to behave again. */
export function trickle(
	{ status, body }: GameAnswer,
	{ released }: Pick<Occasion, "released">,
): Response {
	// White space in front is still JSON.
	const bytes = Buffer.from(JSON.stringify(body).padStart(trickleBytes));
	let sent = 0;
	let hasten = false;
	void released.then(() => {
		hasten = true;
	});
	const stream = new ReadableStream<Uint8Array>({
		async pull(controller) {
			if (!hasten && sent > 0)
				await Promise.race([Bun.sleep(trickleEveryMs), released]);
			const end = hasten ? bytes.length : sent + 1;
			controller.enqueue(bytes.subarray(sent, end));
			sent = end;
			if (sent >= bytes.length) controller.close();
		},
	});
	return new Response(stream, {
		status,
		headers: { "content-type": "application/json" },
	});
}

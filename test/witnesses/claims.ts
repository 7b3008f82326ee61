// What a library's process needs for its claims. It prints a line of JSON per claim.

/** What a process prints for a claim. */
export interface Outcome {
	readonly claim: string;
	readonly error: string | undefined;
}

/** Checks the claims in their order: without a login, the first, none; else each even if another failed. */
export async function check(checks: Readonly<Record<string, () => Promise<void>>>): Promise<void> {
	for (const [claim, run] of Object.entries(checks)) {
		const error = await run().then(
			() => undefined,
			(error: unknown) => Bun.inspect(error),
		);
		console.log(JSON.stringify({ claim, error } satisfies Outcome));
		if (error && claim === Object.keys(checks)[0]) process.exit();
	}
}

/** Longer than any check needs, so that a missing event fails one claim and not all that follow. */
const limitMs = 20_000;

/** Resolves with the value, or rejects if it does not come. */
export async function within<T>(what: string, value: Promise<T>): Promise<T> {
	let timer: Timer | undefined;
	const limit = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error(`never came: ${what}`)), limitMs);
	});
	return await Promise.race([value, limit]).finally(() => clearTimeout(timer));
}

/** Waits for events: `heard("messageCreate", (message) => …)` resolves with the arguments of the first that fits, from now on. */
export function listener<Events extends Record<keyof Events, unknown[]>>(
	on: <K extends keyof Events>(event: K, listener: (...args: Events[K]) => void) => unknown,
) {
	return <K extends keyof Events>(event: K, fits: (...args: Events[K]) => boolean = () => true): Promise<Events[K]> => {
		const came = within(
			`event ${String(event)}`,
			new Promise<Events[K]>((resolve) => {
				on(event, (...args) => {
					if (fits(...args)) resolve(args);
				});
			}),
		);
		// A check that failed before it waited has an error of its own.
		came.catch(() => {});
		return came;
	};
}

interface Named {
	readonly id: string;
	readonly name: string;
}

interface State {
	readonly bots: readonly { username: string; token: string }[];
	readonly users: readonly { id: string; username: string; token: string }[];
	readonly guilds: readonly (Named & { readonly channels: readonly Named[] })[];
}

/** What `GET /simulator/interactions` says of one. */
export interface Used {
	readonly id: string;
	readonly reply: { readonly content: string } | null;
}

/** The simulator at the URL of the first argument, as the process of a library sees it. */
export async function findSimulator() {
	const [, , url = ""] = process.argv;
	const call = async <T>(method: string, path: string, body?: unknown, authorization = ""): Promise<T> => {
		const response = await fetch(url + path, {
			method,
			headers: { authorization, "content-type": "application/json" },
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
		return (text === "" ? undefined : JSON.parse(text)) as T;
	};
	const { bots, users, guilds } = await call<State>("GET", "/simulator/state");
	const guild = named(guilds, "The Cooks");
	const general = named(guild.channels, "general").id;
	const botNamed = bots.find(({ username }) => username === "alpha");
	if (!botNamed) throw new Error("no bot is named alpha");
	const person = (name: string) => {
		const found = users.find(({ username }) => username === name);
		if (!found) throw new Error(`no user is named ${name}`);
		return found;
	};
	const asAda = <T>(path: string, body: object) => call<T>("POST", `/api/v10${path}`, body, person("ada").token);
	const use = (body: object) =>
		asAda<{ id: string }>("/interactions", { guild_id: guild.id, channel_id: general, ...body });
	return {
		url,
		token: botNamed.token,
		guildId: guild.id,
		general,
		user: (name: string) => person(name).id,
		/** Ada writes in #general. */
		say: (content: string) => asAda<{ id: string }>(`/channels/${general}/messages`, { content }),
		/** Ada uses a slash command in #general. */
		run: (application_id: string, name: string, options: object[] = []) =>
			use({ type: 2, application_id, data: { name, options } }),
		/** Ada presses a button in #general. */
		press: (application_id: string, message_id: string, custom_id: string) =>
			use({ type: 3, application_id, message_id, data: { component_type: 2, custom_id } }),
		/** A used command or button with its responses. */
		used: async (id: string) => (await call<Used[]>("GET", "/simulator/interactions")).find((one) => one.id === id),
		control: (path: string, body: object) => call("POST", `/simulator/${path}`, body),
	};
}

function named<T extends { readonly name: string }>(all: readonly T[], name: string): T {
	const found = all.find((one) => one.name === name);
	if (!found) throw new Error(`nothing is named ${name}`);
	return found;
}

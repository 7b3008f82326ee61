// Reads a guild from the simulated REST API, as a person of the guild, and says what of a document is not in it.

import type { GuildState, Step } from "../../guild-document/steps.ts";
import type { Guild } from "../world/state/entities.ts";

export interface Reply {
	status: number;
	body: unknown;
}

/** Sends a request as a certain user. `path` is relative to the API's URL, such as "/guilds/1". */
export type Call = (method: string, path: string, body?: unknown) => Promise<Reply>;

/** A guild as the REST API returns it, without members and bans, which `readState` does not read. */
export type ReadState = Omit<GuildState, "members" | "bans">;

/** `pictures` has the hashes of the guild's emoji and icons. Throws if a request fails. */
export async function readState(
	call: Call,
	{ id }: Pick<Guild, "id">,
	pictures: GuildState["pictures"],
): Promise<ReadState> {
	const get = async <T>(path: string): Promise<T> => {
		const { status, body } = await call("GET", `/guilds/${id}${path}`);
		if (status !== 200)
			throw new Error(`the simulated Discord API answered GET /guilds/${id}${path} with HTTP ${status}, expected 200`);
		return body as T;
	};
	const screen = await call("GET", `/guilds/${id}/welcome-screen`);
	return {
		guild: await get(""),
		channels: await get("/channels"),
		automod: await get("/auto-moderation/rules"),
		events: await get("/scheduled-events"),
		webhooks: await get("/webhooks"),
		// A guild that has never edited its welcome screen has none.
		welcomeScreen: (screen.status === 200 ? screen.body : { description: null, welcome_channels: [] }) as NonNullable<
			GuildState["welcomeScreen"]
		>,
		onboarding: await get("/onboarding"),
		pictures,
	};
}

export function describeLeft(
	step: Step,
	refused: ReadonlyMap<string, string>,
	ids: ReadonlyMap<string, string>,
): string {
	const { action, kind, name, needs, changes, id } = step;
	const subject = `${action} ${kind} ${name}`;
	const reason = refused.get(id);
	if (reason !== undefined) return `${subject}: refused, ${reason}`;
	const missing = needs.filter((need) => !ids.has(need));
	if (missing.length > 0) return `${subject}: needs ${missing.map((one) => one.slice(1)).join(", ")}`;
	return `${subject}: the simulator keeps ${changes.map(({ field, before = "none" }) => `${field} ${before}`).join(", ")}`;
}

export function describeError({ status, body }: Reply): string {
	const { message = `status ${status}`, errors } = (body ?? {}) as { message?: string; errors?: object };
	return [message, ...fieldErrors(errors ?? {})].join("; ");
}

function fieldErrors(tree: object, path: readonly string[] = []): string[] {
	return Object.entries(tree).flatMap(([key, value]) =>
		key === "_errors"
			? (value as { message: string }[]).map(({ message }) => `${path.join(".")}: ${message}`)
			: fieldErrors(value, [...path, key]),
	);
}

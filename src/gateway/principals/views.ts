// What a principal sees of the bots: which of them, and which of their guilds. Whatever is outside does not exist for it.

import type { Principal } from "../../lib/principal.ts";
import type { Signal } from "../../lib/signal.ts";
import type { Backend } from "../backends/backend.ts";
import type { BackendState } from "../backends/backend-health.ts";
import type { ListedPrompt } from "../backends/listed-prompts.ts";
import type { DroppedTool } from "../backends/listed-tools.ts";
import type { Pins } from "../config/pins.ts";
import type { Rights } from "./rights.ts";

/** A bot as a caller sees it. */
export type View = Pick<
	Backend,
	"backend" | "name" | "state" | "guilds" | "ignoredGuilds" | "pins" | "dropped" | "prompts"
>;

/** Only with the guilds that the principal may use. */
class BackendView implements View {
	readonly name: string;
	/** Always empty: a principal must not learn which guilds are pinned to other bots. */
	readonly ignoredGuilds: readonly string[] = [];
	/** Left out of the gateway's tools/list. Empty until the bot has been asked. */
	dropped: readonly DroppedTool[] = [];
	/** Empty until the bot has been asked. */
	prompts: readonly ListedPrompt[] = [];

	constructor(
		readonly backend: Backend,
		readonly guilds: ReadonlyMap<string, string>,
		readonly pins: Pins,
	) {
		this.name = backend.name;
	}

	get state(): BackendState {
		return this.backend.state;
	}
}

export class Views {
	constructor(
		private readonly backends: readonly Backend[],
		private readonly rights: Rights,
	) {}

	/** By what is known now; for a person, bots whose last answer says that the person is in one of their guilds. */
	now(principal: Principal | undefined): readonly View[] {
		if (!principal) return this.backends;
		const seen = this.#reachable(principal).flatMap((backend) => {
			const guilds = this.#guildsOf(backend, principal);
			if (!guilds) return [];
			// Of a pinned guild that the bot does not list, nothing says that the person is in it.
			const isVisible = (id: string) => (principal.person ? guilds.has(id) : (principal.guilds?.includes(id) ?? true));
			const pinned = keep(backend.pins.pinned, isVisible);
			const isLimited = principal.guilds || principal.person;
			return isLimited && guilds.size === 0 && pinned.size === 0 ? [] : { backend, guilds, pinned };
		});
		// A guild that is pinned to a hidden bot is unknown.
		const known = new Set(seen.flatMap(({ pinned }) => [...pinned]));
		return seen.map(({ backend, guilds, pinned }) => {
			const pins = { pinned, barred: keep(backend.pins.barred, (id) => known.has(id)) };
			return new BackendView(backend, guilds, pins);
		});
	}

	/** Where the person is, if there is one; only bots for which `isNeeded`. Never rejects. */
	async ask(
		principal: Principal | undefined,
		signal: Signal,
		isNeeded: (backend: Backend) => boolean = () => true,
	): Promise<void> {
		const person = principal?.person;
		if (person) await this.rights.load(this.#reachable(principal).filter(isNeeded), person.id, signal);
	}

	/** Like `now`, after `ask`. Never rejects. */
	async load(principal: Principal | undefined, signal: Signal): Promise<readonly View[]> {
		await this.ask(principal, signal);
		return this.now(principal);
	}

	#reachable({ instances }: Principal): Backend[] {
		return this.backends.filter((backend) => backend.acceptsPrincipals && (instances?.includes(backend.name) ?? true));
	}

	#guildsOf(backend: Backend, { person, guilds: limit }: Principal): ReadonlyMap<string, string> | undefined {
		if (!person) return limit ? only(backend.guilds, limit) : backend.guilds;
		const known = this.rights.known(backend, person.id);
		if (!known) return undefined;
		const own = known.guilds.filter(({ signIn }) => signIn || !person.signedIn);
		const guilds = new Map(own.map(({ id, name }) => [id, name]));
		return limit ? only(guilds, limit) : guilds;
	}
}

function only(guilds: ReadonlyMap<string, string>, ids: readonly string[]): ReadonlyMap<string, string> {
	return new Map([...guilds].filter(([id]) => ids.includes(id)));
}

function keep(ids: ReadonlySet<string>, isKept: (id: string) => boolean): ReadonlySet<string> {
	return new Set([...ids].filter(isKept));
}

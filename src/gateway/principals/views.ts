// What a principal sees of the bots: which of them, and which of their guilds. Whatever is outside does not exist for it.

import type { Principal } from "../../lib/principal.ts";
import type { Signal } from "../../lib/signal.ts";
import type { Backend } from "../backends/backend.ts";
import type { BackendState } from "../backends/backend-health.ts";
import type { ListedPrompt } from "../backends/listed-prompts.ts";
import type { DroppedTool } from "../backends/listed-tools.ts";
import type { Pins } from "../config/pins.ts";
import type { Rights } from "./rights.ts";

/** Only with the guilds that the principal may use. */
export class BackendView {
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

interface Routes extends Pick<Principal, "instances" | "guilds"> {
	sources: readonly (ReadonlyMap<string, string> | undefined)[];
	views: readonly BackendView[];
}

const unlimited = {};

export class Views {
	readonly #routes = new WeakMap<object, Routes>();

	constructor(
		private readonly backends: readonly Backend[],
		private readonly rights: Rights,
	) {}

	/** By what is known now; for a person, bots whose last answer says that the person is in one of their guilds. */
	now(principal: Principal): BackendView[] {
		const views = this.#reachable(principal).flatMap((backend) => {
			const guilds = this.#guildsOf(backend, principal);
			if (!guilds) return [];
			const { pinned, barred } = backend.pins;
			// Of a pinned guild that the bot does not list, nothing says that the person is in it.
			const isVisible = (id: string) => (principal.person ? guilds.has(id) : (principal.guilds?.includes(id) ?? true));
			const pins = { pinned: keep(pinned, isVisible), barred };
			const isLimited = principal.guilds || principal.person;
			if (isLimited && guilds.size === 0 && pins.pinned.size === 0) return [];
			return new BackendView(backend, guilds, pins);
		});
		// A guild that is pinned to a hidden bot is unknown.
		const pinned = new Set(views.flatMap(({ pins }) => [...pins.pinned]));
		return views.map(
			({ backend, guilds, pins }) =>
				new BackendView(backend, guilds, { pinned: pins.pinned, barred: keep(pins.barred, (id) => pinned.has(id)) }),
		);
	}

	/** The same as `now`, but kept: with many bots, determining them takes longer than forwarding a call. */
	routes(principal: Principal): readonly BackendView[] {
		const { person, guilds, instances } = principal;
		// What the bots said about a person expires.
		if (person) return this.now(principal);
		const key = guilds ?? instances ?? unlimited;
		const known = this.#routes.get(key);
		if (
			known?.guilds === guilds &&
			known?.instances === instances &&
			this.backends.every((one, at) => sourceOf(one) === known?.sources[at])
		)
			return known?.views ?? [];
		const sources = this.backends.map(sourceOf);
		const views = this.now(principal);
		this.#routes.set(key, { guilds, instances, sources, views });
		return views;
	}

	/** Where the person is, if there is one; only bots for which `isNeeded`. Never rejects. */
	async ask(principal: Principal, signal: Signal, isNeeded: (backend: Backend) => boolean = () => true): Promise<void> {
		const { person } = principal;
		if (person) await this.rights.load(this.#reachable(principal).filter(isNeeded), person.id, signal);
	}

	/** Like `now`, after `ask`. Never rejects. */
	async load(principal: Principal, signal: Signal): Promise<BackendView[]> {
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

function sourceOf({ acceptsPrincipals, guilds }: Backend) {
	return acceptsPrincipals ? guilds : undefined;
}

function only(guilds: ReadonlyMap<string, string>, ids: readonly string[]): ReadonlyMap<string, string> {
	return new Map(
		ids.flatMap((id) => {
			const name = guilds.get(id);
			return name === undefined ? [] : [[id, name]];
		}),
	);
}

function keep(ids: ReadonlySet<string>, isKept: (id: string) => boolean): ReadonlySet<string> {
	return new Set([...ids].filter(isKept));
}

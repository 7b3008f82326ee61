// References inside a guild document: where they stand, the keys that identify things, and replacing keys with ids and back.

import { type Category, type Channel, everyone, type GuildDocument, type Overwrite } from "./document.ts";
import { mapDocument, withoutUndefined } from "./map-document.ts";

/** A function returns undefined to remove the reference. */
interface ReferenceMap {
	role(reference: string): string | undefined;
	channel(reference: string): string | undefined;
	/** Gets the text between the colons of a custom emoji such as ":name:"; returns colons, too. */
	emoji(reference: string): string | undefined;
}

export function mapReferences(document: GuildDocument, map: ReferenceMap): GuildDocument {
	const one = (kind: "role" | "channel") => (reference: string | undefined) =>
		reference === undefined || reference === "" ? reference : (map[kind](reference) ?? "");
	const many = (kind: "role" | "channel") => (references: string[] | undefined) =>
		references?.flatMap((reference) => map[kind](reference) ?? []);
	const channelOf = one("channel");
	const channelsOf = many("channel");
	const rolesOf = many("role");
	const emojiOf = (reference: string | undefined) => {
		const [, name] = /^:(.+):$/s.exec(reference ?? "") ?? [];
		if (name === undefined) return reference;
		return map.emoji(name) ?? "";
	};
	const overwritesOf = (overwrites: Overwrite[] | undefined) =>
		overwrites?.flatMap((overwrite) => {
			if (overwrite.role === undefined) return overwrite;
			const role = overwrite.role === everyone ? everyone : map.role(overwrite.role);
			return role === undefined ? [] : { ...overwrite, role };
		});
	const withAccess = <Thing extends { overwrites?: Overwrite[] | undefined }>(thing: Thing): Thing => ({
		...thing,
		overwrites: overwritesOf(thing.overwrites),
	});
	return withoutUndefined(
		mapDocument(document, {
			settings: (settings) => ({
				...settings,
				afk_channel: channelOf(settings.afk_channel),
				system_channel: channelOf(settings.system_channel),
				rules_channel: channelOf(settings.rules_channel),
				public_updates_channel: channelOf(settings.public_updates_channel),
				safety_alerts_channel: channelOf(settings.safety_alerts_channel),
			}),
			emojis: (emoji) => ({ ...emoji, roles: rolesOf(emoji.roles) }),
			channels: (channel) => ({
				...withAccess(channel),
				default_reaction: emojiOf(channel.default_reaction),
				tags: channel.tags?.map((tag) => ({ ...tag, emoji: emojiOf(tag.emoji) })),
			}),
			categories: withAccess,
			automod: (rule) => ({
				...rule,
				alert_channel: channelOf(rule.alert_channel),
				exempt_roles: rolesOf(rule.exempt_roles),
				exempt_channels: channelsOf(rule.exempt_channels),
			}),
			events: (event) => ({ ...event, channel: channelOf(event.channel) }),
			webhooks: (webhook) => ({ ...webhook, channel: channelOf(webhook.channel) ?? "" }),
			welcome_screen: (screen) => ({
				...screen,
				channels: screen.channels?.flatMap((shown) => {
					const channel = channelOf(shown.channel);
					return channel ? { ...shown, channel, emoji: emojiOf(shown.emoji) } : [];
				}),
			}),
			onboarding: (onboarding) => ({
				...onboarding,
				default_channels: channelsOf(onboarding.default_channels),
				prompts: onboarding.prompts?.map((prompt) => ({
					...prompt,
					options: prompt.options.map((option) => ({
						...option,
						emoji: emojiOf(option.emoji),
						roles: rolesOf(option.roles),
						channels: channelsOf(option.channels),
					})),
				})),
			}),
			messages: (message) => ({
				...message,
				channel: channelOf(message.channel) ?? "",
				role_menu: message.role_menu && {
					...message.role_menu,
					roles: rolesOf(message.role_menu.roles) ?? [],
					requires: one("role")(message.role_menu.requires),
					emojis: message.role_menu.emojis?.map((emoji) => emojiOf(emoji) ?? ""),
				},
			}),
			members: (member) => ({ ...member, roles: rolesOf(member.roles) ?? [] }),
		}),
	);
}

/** `longName`, such as "Staff/general", is used if several have the same name. */
export interface Named {
	name: string;
	longName?: string;
}

/**
 * The name, the longer name, or a name with a number, such as "Mods (2)". The same things in the same order always get
 * the same keys.
 */
export function keysOf(things: readonly Named[]): string[] {
	const names = Map.groupBy(things, ({ name }) => name);
	const longNames = Map.groupBy(things, ({ longName }) => longName);
	const used = new Set([everyone, ...names.keys()]);
	const last = new Map<string, number>();
	return things.map(({ name, longName }) => {
		if (name !== everyone && names.get(name)?.length === 1) return name;
		if (longName !== undefined && longNames.get(longName)?.length === 1 && !used.has(longName)) {
			used.add(longName);
			return longName;
		}
		const base = longName ?? name;
		for (let number = (last.get(base) ?? 0) + 1; ; number++) {
			const key = `${base} (${number})`;
			if (used.has(key)) continue;
			used.add(key);
			last.set(base, number);
			return key;
		}
	});
}

/** A channel inside a category comes with that category. */
export function channelsWithCategories(
	document: Pick<GuildDocument, "channels" | "categories">,
): { channel: Channel | Category; category?: Category }[] {
	return [
		...(document.channels ?? []).map((channel) => ({ channel })),
		...(document.categories ?? []).flatMap((category) => [
			{ channel: category },
			...(category.channels ?? []).map((channel) => ({ channel, category })),
		]),
	];
}

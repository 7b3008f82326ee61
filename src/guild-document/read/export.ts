// A guild as a document: with names in place of ids, and without what has its default value.

import { everyone, type GuildDocument, type Overwrite, type Part, partNames, type Role } from "../format/document.ts";
import { mapDocument, mapReferences, present, withoutDefaults } from "../format/fields.ts";
import { channelsWithCategories, keysOf } from "../format/references.ts";
import { compareIds } from "../names/ids.ts";
import type { GuildState } from "../steps.ts";
import { documentWithIds } from "./current-document.ts";
import { markUnknownIcons } from "./picture.ts";

/** Equal byte by byte for an unchanged guild. `parts` default to all that were fetched. */
export function exportDocument(state: GuildState, parts: readonly Part[] = partNames): GuildDocument {
	const full = documentWithIds(state);
	const keys = keysInGuild(full);
	// "@everyone" for permissions means those in the same document.
	const common = parts.includes("everyone") ? full.everyone : [];
	const names = {
		role: (id: string) => keys.roles.get(id),
		channel: (id: string) => keys.channels.get(id),
		emoji: (id: string) => {
			const key = keys.emojis.get(id);
			return key === undefined ? undefined : `:${key}:`;
		},
	};
	const withKeys = addKeys(mapReferences(withShortAccess(full, common), names, state.bot?.keys), keys);
	const withNames = mapDocument(withKeys, {
		messages: (message) => {
			const content = message.content?.replaceAll(/<(@&|#)(\d+)>/g, (whole, mark: string, id: string) => {
				const name = (mark === "#" ? keys.channels : keys.roles).get(id);
				return name === undefined ? whole : `${mark.slice(0, 1)}${name}`;
			});
			return present({ ...message, content });
		},
	});
	const short = withoutDefaults(markUnknownIcons(withNames, state));
	const { version, omitted, id } = short;
	return {
		version,
		omitted,
		id,
		...Object.fromEntries(
			partNames.filter((part) => parts.includes(part) && short[part] !== undefined).map((part) => [part, short[part]]),
		),
	};
}

/** Such as "Staff/general", by id. */
export interface Keys {
	roles: ReadonlyMap<string, string>;
	channels: ReadonlyMap<string, string>;
	emojis: ReadonlyMap<string, string>;
}

/** `full`: the guild as a document with all fields. */
export function keysInGuild(full: GuildDocument): Keys {
	const roles = full.roles ?? [];
	const emojis = full.emojis ?? [];
	const channels = channelsWithCategories(full);
	const table = (things: readonly { id?: string | undefined }[], keys: readonly string[]) =>
		new Map(things.map(({ id = "" }, index) => [id, keys[index] ?? ""]));
	return {
		roles: table(roles, keysOf(roles)),
		emojis: table(emojis, keysOf(emojis)),
		channels: table(
			channels.map(({ channel }) => channel),
			keysOf(
				channels.map(({ channel: { name }, category }) => ({
					name,
					...(category && { longName: `${category.name}/${name}` }),
				})),
			),
		),
	};
}

function addKeys(document: GuildDocument, keys: Keys): GuildDocument {
	const withKey =
		(table: ReadonlyMap<string, string>) =>
		<T extends { name: string; id?: string | undefined }>({ name, id = "", ...rest }: T) => {
			const key = table.get(id);
			return { name, id, ...(key !== name && { key }), ...rest } as unknown as T;
		};
	const place = withKey(keys.channels);
	return mapDocument(document, {
		roles: withKey(keys.roles),
		emojis: withKey(keys.emojis),
		channels: place,
		categories: place,
	});
}

/** Removes overwrites that are those of the category, writes "@everyone" for its permissions, sorts by roles. */
function withShortAccess(full: GuildDocument, common: readonly string[] | undefined): GuildDocument {
	const order = new Map((full.roles ?? []).map(({ id = "" }, index) => [id, index]));
	const rank = ({ role = "", member }: Overwrite) =>
		member !== undefined ? order.size + 1 : (order.get(role) ?? (role === everyone ? order.size : -1));
	const sorted = (overwrites: Overwrite[] = []) =>
		overwrites.toSorted((a, b) => rank(a) - rank(b) || compareIds(a.member ?? "", b.member ?? ""));
	return mapDocument(full, {
		roles: (role) => shortPermissions(role, common),
		channels: (one, category) => {
			if (one.unseen) return one;
			const { overwrites = [], ...rest } = one;
			const inherited = JSON.stringify(category?.overwrites ?? []);
			return JSON.stringify(overwrites) === inherited ? rest : { ...rest, overwrites: sorted(overwrites) };
		},
		categories: ({ overwrites, channels = [], ...rest }) => ({
			...rest,
			...(overwrites?.length && { overwrites: sorted(overwrites) }),
			channels,
		}),
	});
}

function shortPermissions(role: Role, common: readonly string[] = []): Role {
	const { permissions = [] } = role;
	const hasAll = common.every((name) => permissions.includes(name));
	if (common.length < 2 || !hasAll) return role;
	return { ...role, permissions: [everyone, ...permissions.filter((name) => !common.includes(name))] };
}

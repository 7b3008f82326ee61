// The difference between a document and a guild: the steps that make the guild like the document.

import type { APIRole } from "discord.js";
import { ruleFieldsOf } from "./automod-rule.ts";
import { editedKinds } from "./channel-kinds.ts";
import { defaultsOf } from "./defaults.ts";
import type { Category, Channel, GuildDocument, Settings } from "./document.ts";
import { everyone } from "./document.ts";
import {
	type ApiChannel,
	apiChannels,
	bitsOfNames,
	compareChannels,
	isBelowText,
	kindOf,
	rolesFromTop,
} from "./from-api.ts";
import { isPlaceholder, matchDocument } from "./match.ts";
import { mergeOrder, movedIn } from "./order.ts";
import { channelsWithCategories } from "./references.ts";
import type {
	ApiRequest,
	Difference,
	FieldChange,
	GuildState,
	RawOverwrite,
	Refusal,
	Step,
	StepGuard,
	StepKind,
} from "./steps.ts";
import {
	automodBody,
	channelBody,
	fillPlaceholders,
	onboardingBody,
	rawOverwrites,
	roleBody,
	scheduledEventBody,
	settingsBody,
	welcomeScreenBody,
} from "./to-api.ts";
import { accessChanges, describeValue, sameValue } from "./values.ts";

export interface DifferenceOptions {
	/** Whether to delete what the document does not list, in the parts that it has. */
	prune: boolean;
	/** Ids of what a running job has created, by placeholder. */
	ids?: ReadonlyMap<string, string>;
	/** Ids of the roles that whoever carries out the steps cannot move: those at and above its highest role. */
	fixedRoles?: ReadonlySet<string>;
}

/** The order in which steps are carried out: what others refer to comes first, deletions come last. */
const phases = [
	"settings",
	"roles",
	"role order",
	"emojis",
	"categories",
	"channels",
	"community",
	"community channels",
	"channel settings",
	"channel order",
	"rest",
	"members",
	"deletions",
] as const;
type Phase = (typeof phases)[number];

/** Kinds of channels that only communities have. https://discord.com/developers/docs/resources/guild#guild-object-guild-features */
const communityKinds: readonly string[] = ["stage", "announcement"];

/** Guild settings that refer to channels, or that only communities have. They are set when the channels exist. */
const lateSettings = [
	"afk_channel",
	"system_channel",
	"rules_channel",
	"public_updates_channel",
	"safety_alerts_channel",
	"preferred_locale",
] as const satisfies readonly (keyof Settings)[];

/**
 * Returns the steps that make a guild like a document, in the order in which they must be carried out, and what of the
 * document cannot be done by anyone. Throws an InvalidDocument if the document is ambiguous, or if one of its references
 * refers to nothing.
 */
export function difference(
	document: GuildDocument,
	state: GuildState,
	{ prune, ids = new Map(), fixedRoles = new Set() }: DifferenceOptions,
): Difference {
	const { wanted, current, names, refusals } = matchDocument(
		document,
		state,
		ids,
	);
	const { guild } = state;
	const guildPath = `/guilds/${guild.id}` as const;
	const found: { phase: Phase; step: Step }[] = [];
	const nameOf = (id: string) =>
		id === guild.id || id === everyone ? everyone : (names.get(id) ?? id);

	/** Adds a step that sends `body`, in which placeholders are replaced with ids. */
	const add = (
		phase: Phase,
		step: Pick<Step, "action" | "kind" | "name"> &
			Partial<Pick<Step, "targetId" | "placeholder" | "changes">> & {
				guard?: StepGuard;
				method: ApiRequest["method"];
				path: (id: (idOrPlaceholder: string) => string) => `/${string}`;
				body?: unknown;
				/** Changes the body after placeholders were replaced. */
				arrange?: (body: unknown) => unknown;
				picture?: ApiRequest["picture"];
				/** Ids and placeholders of what must exist before the step. By default all in the body. */
				needs?: readonly string[];
			},
	) => {
		const { method, path, body, picture, guard = {}, changes = [] } = step;
		const { action, kind, name, targetId, placeholder } = step;
		const { arrange = (filled) => filled } = step;
		const needs = step.needs ?? placeholdersIn(body);
		const target = placeholder ?? targetId ?? "";
		const subject = isPlaceholder(target)
			? target.slice(1)
			: `${kind}/${target}`;
		found.push({
			phase,
			step: {
				id: `${action} ${subject}`,
				action,
				kind,
				name,
				targetId,
				placeholder,
				changes,
				needs: [...new Set(needs.filter(isPlaceholder))].filter(
					(need) => need !== placeholder && !ids.has(need),
				),
				guard: {
					...guard,
					fields: changes.map(({ field }) => field),
				},
				request: (given) => {
					const all = new Map([...ids, ...given]);
					const idOf = (one: string) =>
						isPlaceholder(one) ? (all.get(one) ?? "0") : one;
					return {
						method,
						path: path(idOf),
						...(body !== undefined && {
							body: arrange(fillPlaceholders(body, all)),
						}),
						...(picture && { picture }),
					};
				},
			},
		});
	};

	/** Whether the job has created this, and someone has deleted it since. Then it is not created again. */
	const isGone = (id: string, kind: string, name: string) => {
		if (!ids.has(id)) return false;
		refusals.push({
			subject: `${kind} ${name}`,
			reason: "it was created, and someone has deleted it since",
		});
		return true;
	};

	/**
	 * Returns the fields of `after` that differ from `before`, as texts and as values. Without `before`, the texts leave
	 * out the fields that have their default value.
	 */
	const compare = <T extends object>(
		before: T | undefined,
		after: T,
		defaults: Partial<T> = {},
		ignored: readonly string[] = [],
	) => {
		const skipped = ["id", "key", "managed", ...ignored];
		const values: Partial<T> = {};
		const changes: FieldChange[] = [];
		for (const field of Object.keys(after) as (keyof T & string)[]) {
			const value = after[field];
			if (skipped.includes(field) || value === undefined) continue;
			const old = before?.[field];
			if (before && old === undefined) continue;
			if (before && sameValue(field, old, value)) continue;
			values[field] = value;
			if (field === "overwrites")
				changes.push(
					...accessChanges(
						rawOverwrites((old ?? []) as [], guild.id),
						rawOverwrites(value as [], guild.id),
						nameOf,
					),
				);
			else if (
				before ||
				(field !== "name" && !sameValue(field, value, defaults[field]))
			)
				changes.push({
					field,
					before: before && describeValue(old, nameOf),
					after: describeValue(value, nameOf),
				});
		}
		return { values, changes, isChanged: Object.keys(values).length > 0 };
	};

	addSettings();
	addRoles();
	addEmojis();
	addChannels();
	addRest();
	addPeople();

	function addSettings(): void {
		const given = wanted.settings;
		const edit = (phase: Phase, part: Settings, target: string) => {
			const { values, changes, isChanged } = compare(
				current.settings ?? {},
				part,
			);
			if (!isChanged) return;
			const picture = values.icon
				? { picture: { field: "icon" as const, hash: values.icon } }
				: {};
			add(phase, {
				action: "edit",
				kind: "settings",
				name: target,
				targetId: target,
				changes,
				method: "PATCH",
				path: () => guildPath,
				// Discord enables Community only with both channels in the same request.
				body: settingsBody(values.community ? part : values, guild),
				...picture,
			});
		};
		if (given) {
			const late = new Set<string>(["community", ...lateSettings]);
			const early = Object.entries(given).filter(([field]) => !late.has(field));
			edit("settings", Object.fromEntries(early), "settings");
			const enables = given.community && !current.settings?.community;
			const disables = given.community === false && current.settings?.community;
			if (enables)
				edit(
					"community",
					{
						community: true,
						rules_channel: given.rules_channel,
						public_updates_channel: given.public_updates_channel,
					},
					"community",
				);
			const rest = lateSettings.filter(
				(field) =>
					!enables ||
					(field !== "rules_channel" && field !== "public_updates_channel"),
			);
			edit(
				"channel settings",
				Object.fromEntries([
					...rest.map((field) => [field, given[field]]),
					...(disables ? [["community", false]] : []),
				]),
				"channels",
			);
		}
		if (wanted.everyone && current.everyone) {
			const { changes, isChanged } = compare(
				{ permissions: current.everyone },
				{ permissions: wanted.everyone },
			);
			const bits = bitsOfNames(wanted.everyone);
			if (isChanged)
				add("settings", {
					action: "edit",
					kind: "everyone",
					name: everyone,
					targetId: guild.id,
					changes,
					guard: {
						gives: bits & ~bitsOfNames(current.everyone),
						roleIds: [guild.id],
					},
					method: "PATCH",
					path: () => `${guildPath}/roles/${guild.id}`,
					body: { permissions: String(bits) },
				});
		}
	}

	function addRoles(): void {
		if (!wanted.roles) return;
		const before = new Map(current.roles?.map((role) => [role.id, role]));
		const raw = new Map(guild.roles.map((role) => [role.id, role]));
		for (const role of wanted.roles) {
			const { id = "", name } = role;
			const old = before.get(id);
			const own = isPlaceholder(id) ? [] : [id];
			// Discord names and pictures the role of an integration.
			const ignored = old?.managed ? ["name", "icon"] : [];
			const { values, changes, isChanged } = compare(
				old,
				role,
				defaultsOf.role,
				ignored,
			);
			const had = BigInt(
				(raw.get(id) as APIRole | undefined)?.permissions ?? 0,
			);
			const guard: StepGuard = {
				roleIds: own,
				...(values.permissions && {
					gives: bitsOfNames(values.permissions) & ~had,
				}),
			};
			const hash = values.icon ?? "";
			const picture = /^[0-9a-f]{32}$/.test(hash)
				? { picture: { field: "icon" as const, hash } }
				: {};
			if (!old) {
				if (isGone(id, "role", name)) continue;
				add("roles", {
					action: "create",
					kind: "role",
					name,
					placeholder: id,
					changes,
					guard,
					method: "POST",
					path: () => `${guildPath}/roles`,
					body: roleBody({ permissions: [], ...values }),
					...picture,
				});
			} else if (isChanged)
				add("roles", {
					action: "edit",
					kind: "role",
					name: old.name,
					targetId: id,
					changes,
					guard,
					method: "PATCH",
					path: () => `${guildPath}/roles/${id}`,
					body: roleBody(values),
					...picture,
				});
		}
		orderRoles();
		remove(
			"role",
			current.roles,
			wanted.roles,
			(id) => `${guildPath}/roles/${id}`,
		);
	}

	function orderRoles(): void {
		const all = rolesFromTop(state).map(({ id }) => id);
		const listed = (wanted.roles ?? []).flatMap(({ id = "" }) =>
			isPlaceholder(id) && ids.has(id) ? [] : id,
		);
		const movable = all.filter((id) => !fixedRoles.has(id));
		const before = listed.filter(
			(id) => fixedRoles.has(id) || movable.includes(id),
		);
		const blocked = movedIn(all, mergeOrder(all, before)).filter((id) =>
			before.some(
				(other, index) =>
					fixedRoles.has(other) &&
					!fixedRoles.has(id) &&
					index > before.indexOf(id),
			),
		);
		for (const id of blocked)
			refusals.push({
				subject: `role ${nameOf(id)}`,
				reason:
					"its place is above roles that the bot cannot move; it stays below them",
			});
		const order = mergeOrder(
			movable,
			listed.filter((id) => !fixedRoles.has(id)),
		);
		const moved = movedIn(movable, order);
		const isNew = order.some(
			(id, index) =>
				isPlaceholder(id) &&
				order.slice(index + 1).some((one) => !isPlaceholder(one)),
		);
		if (moved.length === 0 && !isNew) return;
		add("role order", {
			action: "order",
			kind: "role",
			name: "roles",
			targetId: "all",
			changes: moved.map((id) => ({
				field: nameOf(id),
				after: placeIn(order, id),
			})),
			guard: { roleIds: moved },
			method: "PATCH",
			path: () => `${guildPath}/roles`,
			body: order.map((id) => ({ id })),
			// Position 1 is the lowest role above @everyone. Roles that could not be created leave no gaps, which would move
			// others above the bot's role.
			arrange: (roles) =>
				(roles as { id: string }[]).map(({ id }, index, { length }) => ({
					id,
					position: length - index,
				})),
			needs: [],
		});
	}

	/** Says where a thing is in an order: "below Mods". */
	function placeIn(order: readonly string[], id: string): string {
		const above = order[order.indexOf(id) - 1];
		return above === undefined ? "at the top" : `below ${nameOf(above)}`;
	}

	function addEmojis(): void {
		if (!wanted.emojis) return;
		const before = new Map(current.emojis?.map((emoji) => [emoji.id, emoji]));
		for (const emoji of wanted.emojis) {
			const { id = "", name, picture = "" } = emoji;
			const old = before.get(id);
			const { values, changes, isChanged } = compare(
				old,
				emoji,
				defaultsOf.emoji,
				["picture", "animated"],
			);
			if (!old) {
				if (isGone(id, "emoji", name)) continue;
				if (picture === "") {
					refusals.push({
						subject: `emoji ${name}`,
						reason: "the document does not say which picture it has",
					});
					continue;
				}
				add("emojis", {
					action: "create",
					kind: "emoji",
					name,
					placeholder: id,
					changes,
					guard: { animated: emoji.animated ?? false },
					method: "POST",
					path: () => `${guildPath}/emojis`,
					body: { name, roles: emoji.roles ?? [] },
					picture: { field: "image", hash: picture },
				});
				continue;
			}
			if (isChanged)
				add("emojis", {
					action: "edit",
					kind: "emoji",
					name: old.name,
					targetId: id,
					changes,
					method: "PATCH",
					path: () => `${guildPath}/emojis/${id}`,
					body: { name: values.name, roles: values.roles },
				});
			if (picture && old.picture && picture !== old.picture)
				refusals.push({
					subject: `emoji ${name}`,
					reason:
						"it has another picture, which Discord cannot change; delete the emoji to have it created anew",
				});
		}
		remove(
			"emoji",
			current.emojis,
			wanted.emojis,
			(id) => `${guildPath}/emojis/${id}`,
		);
	}

	function addChannels(): void {
		const before = new Map(
			channelsWithCategories(current).map((one) => [one.channel.id, one]),
		);
		const raw = new Map(apiChannels(state).map((one) => [one.id, one]));
		const isCommunity = current.settings?.community ?? false;
		for (const { channel, category } of channelsWithCategories(wanted)) {
			const { id = "", name } = channel;
			const isCategory = (wanted.categories ?? []).includes(channel);
			const kind: StepKind = isCategory ? "category" : "channel";
			const old = before.get(id);
			const parentId = category?.id ?? "";
			const target = withAccess(channel, category, old === undefined);
			const { values, changes, isChanged } = compare<Channel>(
				old?.channel,
				target,
				defaultsOf.channel,
				["channels"],
			);
			const isMoved =
				old && !isCategory && (old.category?.id ?? "") !== parentId;
			const guard: StepGuard = {
				...(!isCategory && { parentId }),
				...(values.kind && { channelKind: values.kind }),
				...(values.overwrites && {
					overwrites: {
						before: old ? rawOverwritesOf(raw.get(id)) : [],
						after: rawOverwrites(values.overwrites, guild.id),
					},
				}),
			};
			if (!old) {
				if (isGone(id, kind, name)) continue;
				const channelKind = target.kind ?? "text";
				// Discord converts it when Community is enabled, which needs channels.
				const isLater =
					channelKind === "announcement" &&
					!isCommunity &&
					wanted.settings?.community === true;
				const first = isCategory
					? { ...values, kind: undefined }
					: { ...values, kind: isLater ? ("text" as const) : channelKind };
				add(
					isCategory
						? "categories"
						: communityKinds.includes(first.kind ?? "")
							? "community channels"
							: "channels",
					{
						action: "create",
						kind,
						name,
						placeholder: id,
						changes: [
							...(category
								? [{ field: "category", after: category.name }]
								: []),
							...changes,
						],
						guard: isCategory ? guard : { ...guard, channelKind },
						method: "POST",
						path: () => `${guildPath}/channels`,
						body: {
							...channelBody(first, parentId || undefined, guild.id),
							...(isCategory && { type: editedKinds.category.type }),
						},
					},
				);
			} else if (isChanged || isMoved)
				add(
					values.kind && communityKinds.includes(values.kind)
						? "community channels"
						: isCategory
							? "categories"
							: "channels",
					{
						action: "edit",
						kind,
						name: old.channel.name,
						targetId: id,
						changes: [
							...(isMoved
								? [
										{
											field: "category",
											before: old.category?.name ?? "none",
											after: category?.name ?? "none",
										},
									]
								: []),
							...changes,
						],
						guard,
						method: "PATCH",
						path: () => `/channels/${id}`,
						body: channelBody(
							values,
							isMoved ? parentId : undefined,
							guild.id,
							raw.get(id),
						),
					},
				);
		}
		orderChannels();
		removeChannels();
	}

	/** Returns a channel with the overwrites it should have: its own, or those of its category if it lists none. */
	function withAccess(
		channel: Channel,
		category: Category | undefined,
		isNew: boolean,
	): Channel {
		if (channel.overwrites || (document.omitted !== "default" && !isNew))
			return channel;
		if (!category)
			return document.omitted === "default"
				? { ...channel, overwrites: [] }
				: channel;
		const inGuild = current.categories?.find(({ id }) => id === category.id);
		const whole = document.omitted === "default" ? [] : inGuild?.overwrites;
		return { ...channel, overwrites: category.overwrites ?? whole ?? [] };
	}

	function orderChannels(): void {
		const all = apiChannels(state)
			.filter(({ type }) => kindOf(type))
			.toSorted(compareChannels);
		const typeOf = new Map(all.map(({ id, type }) => [id, type]));
		const parentOf = new Map(
			all.map(({ id, parent_id }) => [id, parent_id ?? ""]),
		);
		const kinds = new Map<string, number>();
		const lists: string[][] = [];
		const orderIn = (parentId: string, listed: readonly Channel[]) => {
			for (const channel of listed) {
				const { id = "", kind = "text" } = channel;
				kinds.set(id, typeOf.get(id) ?? editedKinds[kind].type);
			}
			for (const below of [false, true]) {
				const isIn = (id: string) =>
					isBelowText(typeOf.get(id) ?? kinds.get(id) ?? 0) === below;
				const ownIds = listed.map(({ id = "" }) => id).filter(isIn);
				const elsewhere = new Set(
					channelsWithCategories(wanted).map(({ channel }) => channel.id ?? ""),
				);
				const now = all
					.map(({ id }) => id)
					.filter(
						(id) =>
							isIn(id) &&
							typeOf.get(id) !== editedKinds.category.type &&
							(ownIds.includes(id) ||
								(parentOf.get(id) === parentId && !elsewhere.has(id))),
					);
				lists.push(...changedOrder(now, ownIds));
			}
		};
		if (wanted.channels) orderIn("", wanted.channels);
		for (const { id = "", channels } of wanted.categories ?? [])
			if (channels) orderIn(id, channels);
		if (wanted.categories)
			lists.push(
				...changedOrder(
					all
						.filter(({ type }) => type === editedKinds.category.type)
						.map(({ id }) => id),
					wanted.categories.map(({ id = "" }) => id),
				),
			);
		if (lists.length === 0) return;
		add("channel order", {
			action: "order",
			kind: "channel",
			name: "channels",
			targetId: "all",
			changes: lists.flatMap((order) =>
				movedIn(
					all.map(({ id }) => id).filter((id) => order.includes(id)),
					order,
				).map((id) => ({ field: nameOf(id), after: placeIn(order, id) })),
			),
			method: "PATCH",
			path: () => `${guildPath}/channels`,
			body: lists.flatMap((order) =>
				order.map((id, position) => ({ id, position })),
			),
			needs: [],
		});
	}

	/** Returns the order of the channels of one list, if it changes. New channels come last by themselves. */
	function changedOrder(
		now: readonly string[],
		listed: readonly string[],
	): string[][] {
		const order = mergeOrder(
			now,
			listed.filter((id) => !isPlaceholder(id) || !ids.has(id)),
		);
		const isSame = order.every((id, index) => id === now[index]);
		return isSame ? [] : [order];
	}

	function removeChannels(): void {
		const listed = channelsWithCategories(wanted);
		const isListed = new Set(listed.map(({ channel }) => channel.id));
		const parts = new Set<string>([
			...(wanted.channels ? [""] : []),
			...(wanted.categories ?? [])
				.filter(({ channels }) => channels)
				.map(({ id = "" }) => id),
		]);
		const inCategories = wanted.categories !== undefined;
		const gone = channelsWithCategories(current).filter(
			({ channel, category }) => {
				if (isListed.has(channel.id)) return false;
				if (!("kind" in channel)) return inCategories;
				const parent = category?.id ?? "";
				return (
					parts.has(parent) ||
					(parent !== "" && inCategories && !isListed.has(parent))
				);
			},
		);
		// Channels go before their category.
		const isCategory = ({ channel }: (typeof gone)[number]) =>
			!("kind" in channel);
		for (const one of [
			...gone.filter((one) => !isCategory(one)),
			...gone.filter(isCategory),
		])
			removeOne(
				isCategory(one) ? "category" : "channel",
				one.channel,
				(id) => `/channels/${id}`,
			);
	}

	type Removable = { id?: string | undefined; name: string };

	function removeOne(
		kind: StepKind,
		{ id = "", name }: Removable,
		path: (id: string) => `/${string}`,
	): void {
		if (!prune) return;
		add("deletions", {
			action: "delete",
			kind,
			name,
			targetId: id,
			guard: kind === "role" ? { roleIds: [id] } : {},
			method: "DELETE",
			path: () => path(id),
		});
	}

	/** Adds the deletions of what the guild has and the document does not list. */
	function remove(
		kind: StepKind,
		existing: readonly (Removable & { managed?: boolean | undefined })[] = [],
		listed: readonly { id?: string | undefined }[] = [],
		path: (id: string) => `/${string}`,
	): void {
		const kept = new Set(listed.map(({ id }) => id));
		for (const thing of existing)
			if (!kept.has(thing.id) && !thing.managed) removeOne(kind, thing, path);
	}

	function addRest(): void {
		addRules();
		addEvents();
		addWebhooks();
		const { welcome_screen, onboarding } = wanted;
		if (welcome_screen && current.welcome_screen) {
			const { changes, values, isChanged } = compare(
				current.welcome_screen,
				welcome_screen,
			);
			if (isChanged)
				add("rest", {
					action: "edit",
					kind: "welcome_screen",
					name: "welcome screen",
					targetId: "welcome_screen",
					changes,
					method: "PATCH",
					path: () => `${guildPath}/welcome-screen`,
					body: welcomeScreenBody(values),
				});
		}
		if (onboarding && current.onboarding) {
			const { changes, isChanged } = compare(current.onboarding, onboarding);
			if (isChanged)
				add("rest", {
					action: "edit",
					kind: "onboarding",
					name: "onboarding",
					targetId: "onboarding",
					changes,
					method: "PUT",
					path: () => `${guildPath}/onboarding`,
					body: onboardingBody(
						{ ...current.onboarding, ...onboarding },
						state.onboarding,
					),
				});
		}
	}

	function addRules(): void {
		if (!wanted.automod || !current.automod) return;
		const before = new Map(current.automod.map((rule) => [rule.id, rule]));
		const raw = new Map(state.automod?.map((rule) => [rule.id, rule]));
		for (const rule of wanted.automod) {
			const { id = "", name } = rule;
			const old = before.get(id);
			const { values, changes, isChanged } = compare(
				old,
				rule,
				defaultsOf.automod,
			);
			const rawRule = raw.get(id);
			if (!old || !rawRule) {
				if (isGone(id, "AutoMod rule", name)) continue;
				add("rest", {
					action: "create",
					kind: "automod",
					name,
					placeholder: id,
					changes,
					method: "POST",
					path: () => `${guildPath}/auto-moderation/rules`,
					body: automodBody(rule),
				});
			} else if (isChanged)
				add("rest", {
					action: "edit",
					kind: "automod",
					name: old.name,
					targetId: id,
					changes,
					method: "PATCH",
					path: () => `${guildPath}/auto-moderation/rules/${id}`,
					body: automodBody(values, { ...ruleFieldsOf(rawRule), raw: rawRule }),
				});
		}
		remove(
			"automod",
			current.automod,
			wanted.automod,
			(id) => `${guildPath}/auto-moderation/rules/${id}`,
		);
	}

	function addEvents(): void {
		if (!wanted.events || !current.events) return;
		const before = new Map(current.events.map((event) => [event.id, event]));
		for (const event of wanted.events) {
			const { id = "", name } = event;
			const old = before.get(id);
			const { values, changes, isChanged } = compare(
				old,
				event,
				defaultsOf.event,
			);
			if (!old) {
				if (isGone(id, "event", name)) continue;
				add("rest", {
					action: "create",
					kind: "event",
					name,
					placeholder: id,
					changes,
					guard: { channelKind: event.kind },
					method: "POST",
					path: () => `${guildPath}/scheduled-events`,
					body: scheduledEventBody(event, true),
				});
			} else if (isChanged)
				add("rest", {
					action: "edit",
					kind: "event",
					name: old.name,
					targetId: id,
					changes,
					guard: { channelKind: event.kind },
					method: "PATCH",
					path: () => `${guildPath}/scheduled-events/${id}`,
					body: scheduledEventBody(values, false),
				});
		}
		remove(
			"event",
			current.events,
			wanted.events,
			(id) => `${guildPath}/scheduled-events/${id}`,
		);
	}

	function addWebhooks(): void {
		if (!wanted.webhooks || !current.webhooks) return;
		const before = new Map(current.webhooks.map((hook) => [hook.id, hook]));
		for (const webhook of wanted.webhooks) {
			const { id = "", name, channel } = webhook;
			const old = before.get(id);
			const changes: FieldChange[] = [
				{ field: "channel", after: nameOf(channel) },
			];
			if (!old) {
				if (channel === "" || isGone(id, "webhook", name)) continue;
				add("rest", {
					action: "create",
					kind: "webhook",
					name,
					placeholder: id,
					changes,
					method: "POST",
					path: (idOf) => `/channels/${idOf(channel)}/webhooks`,
					body: { name },
					needs: [channel],
				});
				continue;
			}
			const compared = compare(old, webhook);
			if (compared.isChanged)
				add("rest", {
					action: "edit",
					kind: "webhook",
					name: old.name,
					targetId: id,
					changes: compared.changes,
					method: "PATCH",
					path: () => `/webhooks/${id}`,
					body: {
						name: compared.values.name,
						channel_id: compared.values.channel,
					},
				});
		}
		remove(
			"webhook",
			current.webhooks,
			wanted.webhooks,
			(id) => `/webhooks/${id}`,
		);
	}

	function addPeople(): void {
		const has = new Map(
			state.members?.map(({ id, roles }) => [id, new Set(roles)]),
		);
		for (const member of state.members ? (wanted.members ?? []) : []) {
			const own = has.get(member.id);
			if (!own) {
				refusals.push({
					subject: `member ${member.id}`,
					reason: "is not in the guild",
				});
				continue;
			}
			for (const role of member.roles)
				if (!own.has(role))
					add("members", {
						action: "assign",
						kind: "member",
						name: nameOf(role),
						targetId: `${member.id}/${role}`,
						changes: [{ field: "role", after: nameOf(role) }],
						guard: { roleIds: isPlaceholder(role) ? [] : [role] },
						method: "PUT",
						path: (idOf) =>
							`${guildPath}/members/${member.id}/roles/${idOf(role)}`,
						needs: [role],
					});
		}
		const banned = new Set(current.bans?.map(({ id }) => id));
		for (const { id, reason } of current.bans ? (wanted.bans ?? []) : [])
			if (!banned.has(id))
				add("members", {
					action: "ban",
					kind: "ban",
					name: id,
					targetId: id,
					changes: reason ? [{ field: "reason", after: reason }] : [],
					method: "PUT",
					path: () => `${guildPath}/bans/${id}`,
					body: {},
				});
	}

	const steps = phases.flatMap((phase) =>
		found.filter((one) => one.phase === phase).map(({ step }) => step),
	);
	return { steps, refusals: unique(refusals) };
}

function unique(refusals: readonly Refusal[]): Refusal[] {
	const byText = new Map(refusals.map((one) => [JSON.stringify(one), one]));
	return [...byText.values()];
}

function rawOverwritesOf(channel: ApiChannel | undefined): RawOverwrite[] {
	return (channel?.permission_overwrites ?? []).map((one) => ({
		id: one.id,
		type: one.type,
		allow: BigInt(one.allow),
		deny: BigInt(one.deny),
	}));
}

/** Returns the placeholders in the id fields of a request body. */
function placeholdersIn(body: unknown): string[] {
	const found: string[] = [];
	// The table of ids is asked for each placeholder that stands for an id.
	const ids = {
		has: () => true,
		get: (placeholder: string) => {
			found.push(placeholder);
			return placeholder;
		},
	};
	fillPlaceholders(body, ids as unknown as ReadonlyMap<string, string>);
	return found;
}

// Steps that create, edit, move and delete channels and categories.

import type { Category, Channel } from "../format/document.ts";
import { channel as channelSchema } from "../format/document-schema.ts";
import { defaultsOf } from "../format/fields.ts";
import { channelsWithCategories } from "../format/references.ts";
import { quote } from "../match/pairing.ts";
import { editedKinds } from "../names/channel-kinds.ts";
import { type ApiChannel, apiChannels } from "../read/from-api.ts";
import type { FieldChange, StepGuard } from "../steps.ts";
import { channelsWithAccess, type Placed, type PlacedWithAccess } from "./channel-access.ts";
import { gainsText, type MovedAccess } from "./moved-access.ts";
import { byId, type StepList } from "./step-list.ts";
import { channelBody, rawOverwrites, rawOverwritesOf } from "./to-api.ts";
import { sameValue } from "./values.ts";

/** Only with Community. https://discord.com/developers/docs/resources/guild#guild-object-guild-features */
const communityKinds: readonly string[] = ["stage", "announcement"];

const ignored = ["channels", "lock_permissions"];

export function addChannels(list: StepList): void {
	const raw = byId(apiChannels(list.state));
	const categories = byId(list.wanted.categories);
	for (const placed of channelsWithAccess(list)) {
		const { id = "" } = placed.channel;
		const isCategory = categories.has(id);
		if (placed.before) editChannel(list, placed.before, placed, isCategory, raw.get(id));
		else createChannel(list, placed, isCategory);
	}
	removeChannels(list);
}

const phaseOf = (isCategory: boolean, kind = "") =>
	isCategory ? "categories" : communityKinds.includes(kind) ? "community channels" : "channels";

function guardOf(
	{ state }: StepList,
	{ channel, category }: Placed,
	isCategory: boolean,
	values: Partial<Channel>,
	raw?: ApiChannel,
): StepGuard {
	return {
		...(!isCategory && { parentId: category?.id ?? "" }),
		...(channel.overwrites &&
			values.overwrites && {
				overwrites: { before: rawOverwritesOf(raw), after: rawOverwrites(values.overwrites, state.guild.id) },
			}),
	};
}

function createChannel(list: StepList, placed: Placed, isCategory: boolean): void {
	const { wanted, current, state } = list;
	const { channel, category } = placed;
	const what = isCategory ? "category" : "channel";
	if (list.isGone(channel, what)) return;
	const { values, changes } = list.compare<Channel>(undefined, channel, defaultsOf(channelSchema), ignored);
	const kind = isCategory ? undefined : (values.kind ?? "text");
	// Discord converts it when Community is enabled, which needs other channels first.
	const isLater = kind === "announcement" && !current.settings?.community && wanted.settings?.community === true;
	const first = isLater ? "text" : kind;
	list.add(phaseOf(isCategory, first), {
		action: "create",
		kind: what,
		name: channel.name,
		placeholder: channel.id ?? "",
		changes: [
			...(category ? [{ field: "category", after: category.name }] : []),
			...accessOfNew(changes, values, category),
		],
		guard: guardOf(list, placed, isCategory, values),
		path: `${list.guildPath}/channels`,
		body: {
			...channelBody({ ...values, kind: first }, category?.id || undefined, state.guild.id),
			...(isCategory && { type: editedKinds.category.type }),
		},
	});
}

function accessOfNew(changes: readonly FieldChange[], { overwrites: own }: Partial<Channel>, category?: Category) {
	const inherited = category?.overwrites;
	if (!inherited) return changes;
	if (sameValue("overwrites", own, inherited)) return changes.filter(({ field }) => !field.startsWith("access of "));
	return own?.length === 0 ? [...changes, { field: "access", after: "of everyone, unlike its category" }] : changes;
}

function editChannel(
	list: StepList,
	old: Placed,
	placed: PlacedWithAccess,
	isCategory: boolean,
	raw: ApiChannel | undefined,
): void {
	const { channel, category, moved } = placed;
	const { id = "", unseen } = channel;
	const { kind } = channel as Channel;
	const before = old.channel as Channel;
	if (before.unseen && !unseen)
		list.refuse(
			`${isCategory ? "category" : "channel"} ${channel.name}`,
			"the bot cannot see it, so it neither compares nor changes it",
		);
	if (before.unseen || unseen) return;
	const isConverted = kind !== undefined && before.kind !== kind;
	const { values, changes, isChanged } = list.compare<Channel>(
		// Fields that only the new kind has begin with their default value.
		isConverted ? { ...defaultsOf(channelSchema, { kind }), ...before } : before,
		channel,
		defaultsOf(channelSchema),
		ignored,
	);
	const parentId = category?.id ?? "";
	const isMoved = !isCategory && (old.category?.id ?? "") !== parentId;
	if (!isChanged && !isMoved) return;
	const [from = "none", to = "none"] = [old.category?.name, category?.name];
	list.add(phaseOf(isCategory, values.kind), {
		action: "edit",
		kind: isCategory ? "category" : "channel",
		name: before.name,
		targetId: id,
		changes: [
			...(isMoved ? [{ field: "category", before: from, after: to }] : []),
			...(moved && moved.access !== "same" ? [{ field: "access", after: accessTexts[moved.access] }] : []),
			...(category && moved?.access === "follows" ? beyondCategory(list, category, changes) : changes),
		],
		follows: moved?.access === "follows",
		note: moved && noteOnGains(list, moved),
		guard: guardOf(list, placed, isCategory, values, raw),
		path: `/channels/${id}`,
		body: channelBody(values, isMoved ? parentId : undefined, list.state.guild.id, raw),
	});
}

/** Without the changes of access that the plan also shows for its category. */
function beyondCategory(list: StepList, category: Category, changes: readonly FieldChange[]): readonly FieldChange[] {
	const before = list.current.categories?.find(({ id }) => id === category.id);
	const shown = new Set(list.compare<Category>(before, category).changes.map((one) => JSON.stringify(one)));
	return changes.filter((one) => !shown.has(JSON.stringify(one)));
}

const accessTexts = { follows: "as its category", keeps: "keeps its own" };

/** Says who gains access because a channel follows its new category, or that it does not follow because of that. */
function noteOnGains({ nameOf }: StepList, { access, gains }: MovedAccess): string | undefined {
	if (gains.length === 0) return undefined;
	const who = gainsText(gains, (id) => quote(nameOf(id)));
	return access === "follows"
		? `It gets the access of its category, as lock_permissions asks. These gain access: ${who}.`
		: `It keeps its own access. With that of its category these would gain access: ${who}. If that is wanted, give it lock_permissions: true.`;
}

function removeChannels(list: StepList): void {
	const { wanted, current } = list;
	const listed = new Set(channelsWithCategories(wanted).map(({ channel }) => channel.id));
	const places = new Set<string>([
		...(wanted.channels ? [""] : []),
		...(wanted.categories ?? []).filter(({ channels }) => channels).map(({ id = "" }) => id),
	]);
	if (wanted.categories) for (const { id = "" } of current.categories ?? []) if (!listed.has(id)) places.add(id);
	const unlisted = ({ id }: { id?: string | undefined }) => !listed.has(id);
	const inPlaces = [
		...(places.has("") ? (current.channels ?? []) : []),
		...(current.categories ?? []).filter(({ id = "" }) => places.has(id)).flatMap(({ channels = [] }) => channels),
	];
	for (const channel of inPlaces.filter(unlisted)) list.remove("channel", channel, "/channels", "channel deletions");
	// A category goes after its channels, which would otherwise stay outside of categories.
	for (const category of wanted.categories ? (current.categories ?? []) : [])
		if (unlisted(category)) list.remove("category", category, "/channels", "channel deletions");
}

// Steps that create, edit and delete custom emoji.

import { defaultsOf } from "../format/defaults.ts";
import type { Emoji } from "../format/document.ts";
import { byId, type StepList } from "./step-list.ts";

export function addEmojis(list: StepList): void {
	const { wanted, current, guildPath } = list;
	if (!wanted.emojis) return;
	const before = byId(current.emojis);
	for (const emoji of wanted.emojis) {
		const old = before.get(emoji.id ?? "");
		if (old) editEmoji(list, old, emoji);
		else createEmoji(list, emoji);
	}
	list.removeUnlisted("emoji", current.emojis, wanted.emojis, (id) => `${guildPath}/emojis/${id}`);
}

function createEmoji(list: StepList, emoji: Emoji): void {
	const { id = "", name, picture: hash = "" } = emoji;
	if (list.isGone(emoji, "emoji")) return;
	if (hash === "") {
		list.refuse(`emoji ${name}`, "the document does not say which picture it has");
		return;
	}
	const { changes } = list.compare(undefined, emoji, defaultsOf.emoji, ["picture", "animated"]);
	list.add("emojis", {
		action: "create",
		kind: "emoji",
		name,
		placeholder: id,
		changes,
		method: "POST",
		path: () => `${list.guildPath}/emojis`,
		body: { name, roles: emoji.roles ?? [] },
		picture: { field: "image", hash },
	});
}

function editEmoji(list: StepList, old: Emoji, emoji: Emoji): void {
	const { id = "", name, picture } = emoji;
	const { values, changes, isChanged } = list.compare(old, emoji, {}, ["picture", "animated"]);
	if (isChanged)
		list.add("emojis", {
			action: "edit",
			kind: "emoji",
			name: old.name,
			targetId: id,
			changes,
			method: "PATCH",
			path: () => `${list.guildPath}/emojis/${id}`,
			body: { name: values.name, roles: values.roles },
		});
	if (picture && old.picture && picture !== old.picture)
		list.refuse(
			`emoji ${name}`,
			"its picture in the document differs from that in the guild, and Discord cannot change the picture of an emoji; delete the emoji in the guild so that it is created with the picture of the document",
		);
}

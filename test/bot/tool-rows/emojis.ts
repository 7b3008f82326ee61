// The rows of src/bot/tools/emojis.ts.

import { AuditLogEvent } from "discord.js";
import * as person from "./person.ts";
import { adaIn, botUser, freshName, inGuild, type Row, refusedByBot, roleId, type Scene } from "./scene.ts";

function emojiBy(scene: Scene, by: "ada" | "alpha", guild = scene.guild) {
	const { world } = scene.world.simulator;
	const user = by === "ada" ? adaIn(scene.world) : botUser(scene.world);
	return world.emojis.add(guild, user, { name: freshName().replace("-", "_") });
}

export const png = `data:image/png;base64,${Buffer.from("\x89PNG\r\n\x1a\nxx", "latin1").toString("base64")}`;

const emojiId = refusedByBot("There is no emoji", (scene) => emojiBy(scene, "ada", scene.other).id);

const manage = inGuild("ManageGuildExpressions");

export const emojisRows: Record<string, Row> = {
	list_emojis: {
		ids: {},
		person: person.anyMember(),
		ask(scene) {
			const { guild, world } = scene;
			for (const one of [...guild.emojis.values()]) world.simulator.world.emojis.remove(guild, one);
			const emoji = emojiBy(scene, "ada");
			return {
				args: {},
				request: `GET /guilds/${guild.id}/emojis`,
				answer: [
					"1 emoji, by id:",
					`<:${emoji.name}:${emoji.id}> | ID: ${emoji.id} | made by: @ada (ID: ${emoji.user.id})`,
				],
			};
		},
		needs: "no permission",
	},
	create_emoji: {
		ids: { role_ids: roleId },
		adds: true,
		person: person.inGuild(["CreateGuildExpressions"]),
		act({ guild }) {
			const name = freshName().replace("-", "_");
			return {
				args: { name, image: png },
				request: `POST /guilds/${guild.id}/emojis`,
				done: () => [...guild.emojis.values()].some((one) => one.name === name),
			};
		},
		reason: AuditLogEvent.EmojiCreate,
		needs: inGuild("CreateGuildExpressions"),
		refuses: [
			...[
				"soup",
				btoa("<svg/>"),
				`${png.slice(0, -3)}*==`,
				"https://example.com/soup.png",
				`data:text/html;base64,${png}`,
			].map((image) => [{ image }, "image: expected "] as const),
			...["x", "a".repeat(33), "so up", "süp"].map((name) => [{ name }, "name: expected "] as const),
		],
	},
	edit_emoji: {
		ids: { emoji_id: emojiId, role_ids: roleId },
		person: person.inGuild(["ManageGuildExpressions"]),
		act(scene) {
			const emoji = emojiBy(scene, "ada");
			return {
				args: { emoji_id: emoji.id, name: "changed" },
				request: `PATCH /guilds/${scene.guild.id}/emojis/${emoji.id}`,
				done: () => emoji.name === "changed",
			};
		},
		reason: AuditLogEvent.EmojiUpdate,
		needs: manage,
		refuses: [[{ name: undefined }]],
	},
	delete_emoji: {
		ids: { emoji_id: emojiId },
		person: person.inGuild(["ManageGuildExpressions"]),
		act(scene) {
			const { guild } = scene;
			const emoji = emojiBy(scene, "ada");
			return {
				args: { emoji_id: emoji.id },
				request: `DELETE /guilds/${guild.id}/emojis/${emoji.id}`,
				done: () => !guild.emojis.has(emoji.id),
			};
		},
		reason: AuditLogEvent.EmojiDelete,
		needs: manage,
		dryRun: /^Would delete the emoji <:thing_\d+:\d+> \(ID: \d+\), made by @ada \(ID: \d+\)\.$/m,
	},
};

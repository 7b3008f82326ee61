// The rows of src/bot/tools/emojis.ts.

import { AuditLogEvent } from "discord.js";
import {
	adaIn,
	botUser,
	freshName,
	looked,
	type Row,
	roleId,
	type Scene,
} from "./scene.ts";

function emojiBy(scene: Scene, by: "ada" | "alpha", guild = scene.guild) {
	const { world } = scene.world.simulator;
	const user = by === "ada" ? adaIn(scene.world) : botUser(scene.world);
	return world.emojis.add(guild, user, {
		name: freshName().replace("-", "_"),
	});
}

export const png = `data:image/png;base64,${Buffer.from("\x89PNG\r\n\x1a\nxx", "latin1").toString("base64")}`;

const emojiId = looked(
	"There is no emoji",
	(scene) => emojiBy(scene, "ada", scene.other).id,
);

const manage = {
	permission: "ManageGuildExpressions",
	name: "MANAGE_GUILD_EXPRESSIONS",
	in: "the guild",
} as const;

export const emojisRows: Record<string, Row> = {
	list_emojis: {
		effect: "asks",
		ids: {},
		ask(scene) {
			const { guild, world } = scene;
			for (const one of [...guild.emojis.values()])
				world.simulator.world.emojis.remove(guild, one);
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
		effect: "writes",
		ids: { role_ids: roleId },
		act({ guild }) {
			const name = freshName().replace("-", "_");
			return {
				args: { name, image: png },
				request: `POST /guilds/${guild.id}/emojis`,
				done: () => [...guild.emojis.values()].some((one) => one.name === name),
			};
		},
		reason: AuditLogEvent.EmojiCreate,
		needs: {
			permission: "CreateGuildExpressions",
			name: "CREATE_GUILD_EXPRESSIONS",
			in: "the guild",
		},
		dryRun: "not destructive",
	},
	edit_emoji: {
		effect: "writes",
		ids: { emoji_id: emojiId, role_ids: roleId },
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
		dryRun: "not destructive",
	},
	delete_emoji: {
		effect: "writes",
		ids: { emoji_id: emojiId },
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
		dryRun:
			/^Would delete the emoji <:thing_\d+:\d+> \(ID: \d+\), made by @ada \(ID: \d+\)\.$/m,
	},
};

// Each job by the shortest sequence of calls that does it, as an assistant could make it: with nothing but what results say.
// Limits of calls and bytes hold what a change of a tool may cost.

import { expect, test } from "bun:test";
import { until } from "../support/until.ts";
import { idAfter, idsIn, type Job, startJob } from "./job.ts";
import { show } from "./sizes.ts";
import { cleanUp, newPlaces, newRoles, rebuild, review, season } from "./tasks.ts";

/** Expects that the job is done, without errors, within these limits. */
function expectDone({ cost }: Job, missing: readonly string[], limits: { calls: number; bytes: number }): void {
	show("job", cost);
	expect(missing).toEqual([]);
	expect(cost.errors).toBe(0);
	expect(cost.calls).toBeLessThanOrEqual(limits.calls);
	expect(cost.bytes).toBeLessThanOrEqual(limits.bytes);
}

test("a guild is rebuilt for a new season", async () => {
	await using job = await startJob(200);
	const task = season(job);
	const { call } = job;
	const roles = await call("list_roles");
	const role = (name: string) => idAfter(roles, `@${name} `);
	const channels = await call("list_channels");
	const channel = (name: string) => idAfter(channels, name);
	const people = task.text.match(/@lantern\d+/g) ?? [];
	const ids: string[] = [];
	for (const name of people) {
		const found = await call("lookup_user_by_name", { query: name.slice(1) });
		ids.push(idAfter(found, `${name})`));
	}

	await call("create_role", { name: "Season 5", color: "#8E44AD", hoist: true, below_role_id: role("Veteran") });
	const host = await call("create_role", {
		name: "Event Host",
		color: "green",
		permissions: ["MANAGE_EVENTS", "MENTION_EVERYONE"],
		below_role_id: role("Helper"),
		user_ids: ids.slice(0, 2),
	});
	const hostId = idAfter(host, "Event Host");
	const captain = await call("create_role", { name: "Captain", below_role_id: hostId, user_ids: ids.slice(2) });
	const captainId = idAfter(captain, "Captain");

	const category = await call("create_channel", { name: "Season 5", channel_type: "category" });
	const category_id = idAfter(category, "Season 5");
	const news = await call("create_channel", {
		name: "season-news",
		category_id,
		write_role_ids: [hostId, role("Moderator")],
	});
	const chat = await call("create_channel", { name: "season-chat", category_id, slowmode: "10s" });
	await call("create_channel", { name: "captains", category_id, view_role_ids: [captainId, role("Moderator")] });
	await call("create_channel", {
		name: "War Room",
		category_id,
		channel_type: "voice",
		user_limit: 8,
		view_role_ids: [captainId, hostId],
	});
	await call("create_channel", {
		name: "strategy",
		category_id,
		channel_type: "forum",
		tags: [{ name: "Guide", moderated: true }, { name: "Question" }, { name: "Clip" }],
	});
	const archive = await call("create_channel", { name: "Archive", channel_type: "category" });
	await call("edit_channel", {
		channel_id: channel("old-season"),
		category_id: idAfter(archive, "Archive"),
		write_role_ids: [role("Moderator")],
	});
	const [, start = ""] = /from (\S+Z)/.exec(task.text) ?? [];
	await call("create_scheduled_event", {
		name: "Opening Night",
		entity_type: "voice",
		channel_id: channel("Lounge"),
		scheduled_start_time: start,
		scheduled_end_time: new Date(Date.parse(start) + 2 * 3_600_000).toISOString(),
	});
	await call("set_automod_rule", {
		name: "Advertisements",
		trigger_type: "keyword",
		keyword_filter: ["*free lamps*"],
		actions: ["block_message", "send_alert_message"],
		alert_channel_id: channel("staff-chat"),
	});
	const channelId = (text: string) => idAfter(text, "season-");
	const sent = await call("send_message", { channel_id: channelId(news), content: "Welcome to Season 5!" });
	await call("pin_message", { channel_id: channelId(news), message_id: idsIn(sent)[0] });
	await call("create_poll", {
		channel_id: channelId(chat),
		question: "Which map first?",
		answers: ["Harbour", "Forest", "Tower"].map((text) => ({ text })),
	});
	expectDone(job, task.missing(""), { calls: 30, bytes: 20_000 });
});

test("a guild of 5,000 is cleaned up after a raid", async () => {
	await using job = await startJob(5_000);
	const task = cleanUp(job);
	await job.world.heard();
	const { call } = job;
	const log = await call("get_audit_log", { after: "4h" });
	const line = (start: string) => {
		const found = log.split("\n").find((one) => one.includes(start));
		if (!found) throw new Error(`no line with ${start} in: ${log}`);
		return found;
	};
	const mallory = idAfter(log, "By: ");
	const roles = await call("list_roles");
	const mods = idAfter(roles, "@Moderator ");
	await call("bulk_role_update", {
		role_id: mods,
		action: "remove",
		user_ids: [mallory, ...memberIds(line("+@Moderator"), "@lantern")],
	});
	const came = await call("list_members", { where: "joined since 4h" });
	const raiders = idsIn(came.slice(came.indexOf("\n")));
	await call("search_messages", { after: "4h", count_by: "author" });
	await call("ban", { user_ids: raiders, dry_run: true });
	await call("ban", { user_ids: raiders, reason: "raid" });
	await call("delete_messages", { user_ids: raiders, dry_run: true });
	await call("delete_messages", { user_ids: raiders });
	await call("edit_guild", { name: "Lantern Hall" });
	await call("unban", { user_ids: idsIn(line("banned 3 users")) });
	const [codes = ""] = /invites: ([^|]+)/.exec(line("created 2 invites"))?.slice(1) ?? [];
	await call("delete_invite", { invite_codes: codes.trim().split(", ") });
	const [first, second] = idsIn(line("created 2 webhooks"));
	await call("delete_webhook", { webhook_ids: [first] });
	await call("delete_webhook", { webhook_ids: [second] });
	await call("delete_role", { role_id: idAfter(roles, "@Support ") });
	await call("set_channel_permissions", {
		channel_ids: [idAfter(line("changed permissions"), "#announcements")],
		target_ids: [job.guild.id],
		deny: ["SEND_MESSAGES"],
	});
	await call("edit_channel", { channel_id: idAfter(line("changed channel"), "#free-lamps"), name: "pictures" });
	const channels = await call("list_channels");
	await call("create_channel", { name: "trading", category_id: idAfter(channels, "#Hall ") });
	const report = "The messages in #trading are lost.";
	expectDone(job, task.missing(report), { calls: 25, bytes: 20_000 });
});

/** The ids in a text that follow a user name with this beginning. */
function memberIds(text: string, name: string): string[] {
	return Array.from(text.matchAll(new RegExp(`${name}\\w* \\(ID: (\\d+)\\)`, "g")), ([, id]) => id ?? "");
}

test("permissions and activity are reviewed", async () => {
	await using job = await startJob(200);
	const task = review(job);
	const { call } = job;
	const channels = await call("list_channels");
	const answers = [
		channels,
		await call("list_channel_permissions"),
		await call("list_roles"),
		await call("check_permissions", {
			channel_ids: [idAfter(channels, "#staff-notes ")],
			permissions: ["VIEW_CHANNEL"],
		}),
		await call("check_permissions", { permissions: ["ADMINISTRATOR"] }),
	];
	const [helper = "", ...quiet] = task.text.match(/@lantern\d+/g) ?? [];
	const ids: string[] = [];
	for (const name of [helper, ...quiet]) {
		const found = await call("lookup_user_by_name", { query: name.slice(1) });
		ids.push(idAfter(found, `${name})`));
	}
	const [helperId, ...quietIds] = ids;
	answers.push(
		await call("check_permissions", {
			user_ids: [helperId],
			channel_ids: [idAfter(channels, "#general ")],
			permissions: ["MODERATE_MEMBERS", "MANAGE_MESSAGES"],
		}),
		await call("search_messages", { after: "30d", count_by: ["author", "channel"] }),
		await call("search_messages", { after: "30d", count_by: "author", user_ids: quietIds }),
	);
	// An assistant would write a report; what it needs has to be in the results.
	expectDone(job, task.missing(answers.join("\n")), { calls: 15, bytes: 20_000 });
});

test("ten roles and thirty channels with access are built by one document", async () => {
	await using job = await startJob(200);
	const task = rebuild(job);
	const { call } = job;
	const slow = ["council-votes", "orders", "duty-roster"];
	const plan = await call("plan_guild", {
		document: {
			roles: [{ name: "Veteran" }, ...newRoles.map(([name, color]) => ({ name, color, hoist: true }))].map((role) =>
				role.name === "Council" ? { ...role, permissions: ["KICK_MEMBERS", "MANAGE_MESSAGES"] } : role,
			),
			categories: newPlaces.map(({ name, seenBy, text, voice }) => ({
				name,
				...(seenBy.length > 0 && {
					overwrites: [
						{ role: "@everyone", deny: ["VIEW_CHANNEL"] },
						...seenBy.map((role) => ({ role, allow: ["VIEW_CHANNEL"] })),
					],
				}),
				channels: [
					...text.map((name) => ({ name, ...(slow.includes(name) && { slowmode: "30s" }) })),
					{ name: voice, kind: "voice", user_limit: 12 },
				],
			})),
		},
	});
	expect(plan).toContain("create 46");
	const [, plan_hash = ""] = /plan_hash=(\w+)/.exec(plan) ?? [];
	let progress = await call("apply_guild", { plan_hash });
	const [, job_id = ""] = /Job (\w+)/.exec(progress) ?? [];
	await until("the job has ended", async () => {
		if (progress.includes(": running")) progress = await call("get_job", { job_id });
		return progress.includes(": done, ");
	});
	expectDone(job, task.missing(""), { calls: 6, bytes: 12_000 });
});

// list_thread_members and edit_thread_members.

import { expect } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { NewThread } from "../../../src/simulator/world/messages/threads.ts";
import { pagesOf } from "../../support/pages.ts";
import { channelNamed, denyBot, type TestWorld, userNamed, worldTest, writes } from "../../support/world.ts";

function scene(test: TestWorld) {
	const { world } = test.simulator;
	const general = channelNamed(test, "general");
	const user = (name: string) => userNamed(test, name);
	return {
		world,
		general,
		user,
		start: (given: Partial<NewThread> = {}, by = user("ada")) =>
			world.threads.add(general, by, { name: "soup", ...given }),
		privately: (given: Partial<NewThread> = {}) => ({ type: ChannelType.PrivateThread as const, ...given }),
		call: async (tool: string, args: object) => (await test.call(tool, { ...args })).text,
	};
}

worldTest("members are added and removed one by one, and the bot joins and leaves by itself", async (test) => {
	const { start, user, call } = scene(test);
	const thread = start();
	await test.heard();
	const [zoe, alpha] = [user("zoe"), user("alpha")];
	const user_ids = [zoe.id, alpha.id];
	const thread_id = thread.id;
	expect(await call("edit_thread_members", { thread_id, add_user_ids: user_ids })).toMatch(
		new RegExp(`^Added 2 of 2 member\\(s\\) to #soup \\(ID: ${thread.id}\\):\\n.*\\(@zoe\\) \\| ID: ${zoe.id}\\n`),
	);
	expect([...thread.members.keys()].slice(1)).toEqual(user_ids);
	const gone = await call("edit_thread_members", { thread_id, remove_user_ids: user_ids });
	expect(gone).toStartWith("Removed 2 of 2 member(s) from #soup");
	expect(thread.members.size).toBe(1);
	const read = await call("get_recent_messages", { channel_id: thread.id });
	for (const kind of ["RecipientAdd", "RecipientRemove"])
		expect(read).toContain(`| kind: ${kind} | member: @zoe (ID: ${zoe.id})`);
	const members = `/channels/${thread.id}/thread-members`;
	expect(writes(test).map(decodeURIComponent)).toEqual(
		["PUT", "DELETE"].flatMap((method) => [`${method} ${members}/${zoe.id}`, `${method} ${members}/@me`]),
	);
});

worldTest("one call adds members and removes others, after a dry run that names them", async (test) => {
	const { world, start, user, call } = scene(test);
	const thread = start();
	const [zoe, liwei] = [user("zoe"), user("liwei")];
	world.threads.join(thread, liwei);
	await test.heard();
	const edit = (args: object) => call("edit_thread_members", { thread_id: thread.id, ...args });
	const args = { add_user_ids: [zoe.id], remove_user_ids: [liwei.id] };
	const where = `#soup (ID: ${thread.id})`;
	const dry = await edit({ ...args, dry_run: true });
	expect(dry.split("\n")).toEqual([
		"Dry run: nothing was done.",
		`Would add 1 member(s) to ${where}:`,
		expect.stringContaining("(@zoe)"),
		`Would remove 1 member(s) from ${where}:`,
		expect.stringContaining("(@liwei)"),
	]);
	for (const [wrong, said] of [
		[{}, "expected at least one of these"],
		[{ ...args, add_user_ids: [liwei.id] }, "the same member cannot be in both lists"],
	] as const)
		expect(await edit(wrong)).toContain(said);
	expect(writes(test)).toEqual([]);
	test.simulator.faults.drop(`DELETE /channels/${thread.id}/thread-members/${liwei.id}`, { when: "before", times: 1 });
	const first = await edit(args);
	expect(first).toStartWith(`Made 1 of 2 changes of the members of ${where}:\nadd Zoë`);
	expect(first).toContain("1 of unknown outcome:\nremove ");
	expect(await edit(args)).toStartWith("Made 2 of 2 changes");
	expect(thread.members.has(zoe.id)).toBe(true);
	expect(thread.members.has(liwei.id)).toBe(false);
});

worldTest("members are added only with the permission to write in the thread", async (test) => {
	const { general, start, user, call } = scene(test);
	const thread = start();
	await denyBot(test, general, PermissionFlagsBits.SendMessagesInThreads);
	const thread_id = thread.id;
	const user_ids = [user("zoe").id];
	expect(await call("edit_thread_members", { thread_id, add_user_ids: user_ids })).toContain(
		"lacks SEND_MESSAGES_IN_THREADS",
	);
	expect(writes(test)).toEqual([]);
});

worldTest("the members of a thread are listed page by page, by id", async (test) => {
	const { world, start, user } = scene(test);
	const thread = start();
	for (const name of ["zoe", "liwei"]) world.threads.join(thread, user(name));
	await test.heard();
	const pages = await pagesOf(test.call, "list_thread_members", { thread_id: thread.id, limit: 2 });
	const seen = pages.flatMap((page) => page.match(/@\S+(?=\) \|)/gm));
	const sorted = [...thread.members.keys()].sort();
	expect(seen).toEqual(sorted.map((id) => `@${world.users.get(id)?.username}`));
	expect(pages[0]).toMatch(/^2 member\(s\) of #soup \(ID: \d+\), by id:\n.* \(@\S+\) \| ID: \d+ \| joined: \S+Z\n/);
});

worldTest(
	"a private thread takes members from MANAGE_THREADS, or from its members if they may invite",
	async (test) => {
		const { world, general, start, privately, user, call } = scene(test);
		const own = start(privately(), user("alpha"));
		const hers = start(privately({ invitable: false }));
		world.threads.join(hers, user("alpha"));
		await denyBot(test, general, PermissionFlagsBits.ManageThreads);
		const user_ids = [user("zoe").id];
		const lacking = "The bot lacks MANAGE_THREADS in #soup";
		const add = ({ id }: { id: string }) => call("edit_thread_members", { thread_id: id, add_user_ids: user_ids });
		const remove = ({ id }: { id: string }) =>
			call("edit_thread_members", { thread_id: id, remove_user_ids: user_ids });
		expect(await add(hers)).toStartWith(lacking);
		expect(await remove(hers)).toStartWith(lacking);
		expect(writes(test)).toEqual([]);
		expect(await add(own)).toStartWith("Added 1");
		expect(await remove(own)).toStartWith("Removed 1");
		await denyBot(test, general, 0n);
		expect(await add(hers)).toStartWith("Added 1");
	},
);

worldTest("the members of an archived thread stay, and a full thread takes no more", async (test) => {
	const { world, start, user, call } = scene(test);
	const [archived, full] = [start(), start()];
	world.threads.edit(archived, { archived: true });
	while (full.members.size < 1000) full.members.set(world.state.newId(), full.create_timestamp);
	await test.heard();
	const user_ids = [user("zoe").id];
	for (const key of ["add_user_ids", "remove_user_ids"])
		expect(await call("edit_thread_members", { thread_id: archived.id, [key]: user_ids })).toContain(
			"The thread is archived; edit_thread with archived = false reopens it.",
		);
	expect(archived.members.has(user("zoe").id)).toBe(false);
	expect(await call("edit_thread_members", { thread_id: full.id, add_user_ids: user_ids })).toContain(
		"(code 30033). list_thread_members shows the members",
	);
});

worldTest("changes that were not started are named by their arguments", async (test) => {
	const { start, user } = scene(test);
	const thread = start();
	const [zoe, ada, liwei] = [user("zoe"), user("ada"), user("liwei")];
	await test.heard();
	test.simulator.faults.rateLimit(`PUT /channels/${thread.id}/thread-members/${ada.id}`, {
		retryAfterMs: 60_000,
		times: 1,
	});
	const { text } = await test.call("edit_thread_members", {
		thread_id: thread.id,
		add_user_ids: [zoe.id, ada.id],
		remove_user_ids: [liwei.id],
	});
	expect(text).toStartWith("Made 1 of 3 changes");
	expect(text).toEndWith(` To continue, call again with add_user_ids ${ada.id} and remove_user_ids ${liwei.id}.`);
});

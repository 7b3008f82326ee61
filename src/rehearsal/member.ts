// A member with given roles tries what they can do, as requests by hand.

import { listFirst } from "../lib/text.ts";
import type { GuildChannel } from "../simulator/world/state/entities.ts";
import { has, isAboveMember } from "../simulator/world/state/permissions.ts";
import type { Scenario } from "./stage.ts";
import { advance } from "./virtual-time.ts";

const maxShown = 15;

export const playMember: Scenario = async (stage, { roleIds }) => {
	const { guild, world, owner, request, done } = stage;
	const tester = stage.newAccount("tester");
	const { user: other } = stage.newAccount("bystander");
	const member = world.members.add(guild, tester.user, { roles: [...roleIds] });
	world.members.add(guild, other);
	/** The names of where each thing was tried, and whether it was refused. */
	const tries = new Map<string, [name: string, isDone: boolean][]>();
	const note = (what: string, name: string, isDone: boolean) =>
		tries.set(what, [...(tries.get(what) ?? []), [name, isDone]]);
	const punished: string[] = [];

	async function tryIn(channel: GuildChannel): Promise<void> {
		const { id, type, name: label } = channel;
		const name = `#${label}`;
		const send = (method: string, path: string, body?: object) =>
			request(tester, method, `/channels/${id}${path}`, body);
		const attempt = async (what: string, ...given: Parameters<typeof send>) =>
			note(what, name, (await send(...given)) !== undefined);
		await attempt("see", "GET", "");
		const message = { content: `@everyone This is a test in ${name}` };
		const thread = { name: "test", type: type === 5 ? 10 : 11, ...(type >= 15 && { message }) };
		if (type >= 15) await attempt("post in forums", "POST", "/threads", thread);
		else {
			const sent = await send("POST", "/messages", message);
			note("write", name, sent !== undefined);
			note("mention everyone", name, sent?.mention_everyone === true);
			const { id: foreign } = (await request(owner, "POST", `/channels/${id}/messages`, message)) ?? {};
			await attempt("delete messages of others", "DELETE", `/messages/${foreign}`);
			if (type === 0 || type === 5) await attempt("start threads", "POST", "/threads", thread);
			else note("join voice", name, has(world.channels.permissionsOf(channel, tester.user), "Connect"));
		}
		await attempt("invite", "POST", "/invites");
		await attempt("make webhooks", "POST", "/webhooks", { name: "test" });
		await attempt("edit channels", "PATCH", "", { name: label });
		await attempt("edit permissions of channels", "PUT", `/permissions/${other.id}`, {
			type: 1,
			allow: "0",
			deny: "0",
		});
		const timeouts = () => done("PATCH /guilds/:guild_id/members/:user_id").length;
		const before = timeouts();
		await advance(5_000);
		if (timeouts() > before) punished.push(name);
		world.members.edit(guild, member, { communication_disabled_until: null });
	}

	for (const channel of guild.channels.values()) if (channel.type !== 4) await tryIn(channel);
	const path = `/guilds/${guild.id}`;
	for (const { id, name, managed } of guild.roles.values())
		if (!managed && id !== guild.id)
			note("give roles", `@${name}`, Boolean(await request(tester, "PUT", `${path}/members/${other.id}/roles/${id}`)));
	const until = new Date(Date.now() + 60_000).toISOString();
	const acts: [what: string, method: string, path: string, body?: object][] = [
		["edit the server", "PATCH", "", { name: guild.name }],
		["read the audit log", "GET", "/audit-logs"],
		["make channels", "POST", "/channels", { name: "test" }],
		["make roles", "POST", "/roles", { name: "test", permissions: "0" }],
		["rename", "PATCH", `/members/${other.id}`, { nick: "test" }],
		["time out", "PATCH", `/members/${other.id}`, { communication_disabled_until: until }],
		["kick", "DELETE", `/members/${other.id}`],
		["ban", "PUT", `/bans/${other.id}`],
	];
	const ended: { what: string; isDone: unknown }[] = [];
	for (const [what, method, end, body] of acts)
		ended.push({ what, isDone: await request(tester, method, path + end, body) });
	const whats = (isDone: boolean) => ended.filter((one) => Boolean(one.isDone) === isDone).map(({ what }) => what);
	const below = [...guild.members.values()].filter((one) => isAboveMember(guild, tester.user.id, one)).length;
	const texts = Map.groupBy(tries, ([, some]) => placesOf(some));
	const roles = member.roles.flatMap((id) => guild.roles.get(id)?.name ?? []);
	return {
		lines: [
			`A member with ${
				roles.length > 0
					? listFirst(
							roles.map((name) => `@${name}`),
							maxShown,
						)
					: "no role"
			} tried:`,
			...Array.from(texts, ([where, some]) => `${some.map(([what]) => what).join(", ")}: ${where}`),
			`In the whole server: ${whats(true).join(", ") || "nothing"}. Refused: ${whats(false).join(", ") || "nothing"}.`,
			`${below} of ${guild.members.size} members rank below them.`,
			...(punished.length > 0 ? [`The bot timed them out for writing in ${listFirst(punished, maxShown)}.`] : []),
		],
	};
};

function placesOf(tries: readonly [name: string, isDone: boolean][]): string {
	const namesOf = (wanted: boolean) => tries.filter(([, isDone]) => isDone === wanted).map(([name]) => name);
	const [can, cannot] = [namesOf(true), namesOf(false)];
	if (can.length === 0 || cannot.length === 0) return can.length === 0 ? "none" : "all";
	return can.length <= cannot.length ? listFirst(can, maxShown) : `all but ${listFirst(cannot, maxShown)}`;
}

// A member with given roles tries what they can do, as requests by hand.

import { listFirst } from "../lib/text.ts";
import type { GuildChannel, Member } from "../simulator/world/state/entities.ts";
import { has, isAboveMember } from "../simulator/world/state/permissions.ts";
import { advance } from "./sandbox.ts";
import { type Scenario, sumOf } from "./stage.ts";

const maxShown = 15;
const noOverwrite = { type: 1, allow: "0", deny: "0" };

export const playMember: Scenario = async (stage, { roleIds, counted }) => {
	const { guild, world, owner, request, done } = stage;
	const tester = stage.newAccount("tester");
	const { user: other } = stage.newAccount("bystander");
	const member = world.members.add(guild, tester.user, { roles: [...roleIds] });
	const bystander = world.members.add(guild, other);
	const tries: { what: string; where: string; isDone: boolean }[] = [];
	const note = (what: string, where: string, isDone: boolean) => tries.push({ what, where, isDone });
	const punished: string[] = [];

	async function attempt(what: string, where: string, ...[method, path, body]: [string, string, object?]) {
		const reply = await request(tester, method, path, body);
		note(what, where, reply !== undefined);
		return reply;
	}

	async function tryIn(channel: GuildChannel): Promise<void> {
		const { id, type, name } = channel;
		const where = `#${name}`;
		const path = `/channels/${id}`;
		const message = { content: `@everyone This is a test in ${where}` };
		const thread = { name: "test", type: type === 5 ? 10 : 11, ...(type >= 15 && { message }) };
		await attempt("see", where, "GET", path);
		if (type !== 2 && type !== 13) await attempt("start threads or posts", where, "POST", `${path}/threads`, thread);
		else note("join voice", where, has(world.channels.permissionsOf(channel, tester.user), "Connect"));
		if (type < 15) {
			const sent = await attempt("write", where, "POST", `${path}/messages`, message);
			note("mention everyone", where, sent?.mention_everyone === true);
			const foreign = await request(owner, "POST", `${path}/messages`, message);
			await attempt("delete messages of others", where, "DELETE", `${path}/messages/${foreign?.id}`);
		}
		await attempt("invite", where, "POST", `${path}/invites`);
		await attempt("make webhooks", where, "POST", `${path}/webhooks`, { name: "test" });
		await attempt("edit channels", where, "PATCH", path, { name });
		await attempt("edit permissions of channels", where, "PUT", `${path}/permissions/${other.id}`, noOverwrite);
		const timeouts = () => done("PATCH /guilds/:guild_id/members/:user_id").length;
		const before = timeouts();
		await advance(5_000);
		if (timeouts() > before) punished.push(where);
		world.members.edit(guild, member, { communication_disabled_until: null });
	}

	for (const channel of guild.channels.values()) if (channel.type !== 4) await tryIn(channel);
	const path = `/guilds/${guild.id}`;
	const person = `${path}/members/${other.id}`;
	for (const { id, name, managed } of guild.roles.values())
		if (!managed && id !== guild.id) await attempt("give roles", `@${name}`, "PUT", `${person}/roles/${id}`);
	const until = new Date(Date.now() + 60_000).toISOString();
	await attempt("edit the server", "", "PATCH", path, { name: guild.name });
	await attempt("read the audit log", "", "GET", `${path}/audit-logs`);
	await attempt("make channels", "", "POST", `${path}/channels`, { name: "test" });
	await attempt("make roles", "", "POST", `${path}/roles`, { name: "test", permissions: "0" });
	await attempt("rename members", "", "PATCH", person, { nick: "test" });
	await attempt("time out", "", "PATCH", person, { communication_disabled_until: until });
	await attempt("kick", "", "DELETE", person);
	await attempt("ban", "", "PUT", `${path}/bans/${other.id}`);
	const byWhat = Map.groupBy(tries, ({ what }) => what);
	const texts = Map.groupBy(byWhat.keys(), (what) => placesIn(byWhat.get(what) ?? []));
	const roles = member.roles.flatMap((id) => guild.roles.get(id)?.name ?? []).map((name) => `@${name}`);
	const others = [...guild.members.values()].filter(({ user }) => user !== tester.user && user !== other);
	const isBelow = (one: Member) => isAboveMember(guild, tester.user.id, one);
	const below = others.filter(isBelow).length + sumOf(counted.filter(({ roles }) => isBelow({ ...bystander, roles })));
	return {
		lines: [
			`A member with ${listFirst(roles, maxShown) || "no role"} tried. ${below} of ${others.length + sumOf(counted)} members rank below them.`,
			...Array.from(texts, ([places, whats]) => `${whats.join(", ")}: ${places}`),
			...(punished.length > 0 ? [`The bot timed them out for writing in ${listFirst(punished, maxShown)}.`] : []),
		],
	};
};

function placesIn(tries: readonly { where: string; isDone: boolean }[]): string {
	const [can, cannot] = [true, false].map((wanted) =>
		tries.filter(({ isDone }) => isDone === wanted).map(({ where }) => where),
	) as [string[], string[]];
	if (can.length === 0 || cannot.length === 0) return can.length === 0 ? "no" : "yes";
	return can.length <= cannot.length ? `in ${listFirst(can, maxShown)}` : `not in ${listFirst(cannot, maxShown)}`;
}

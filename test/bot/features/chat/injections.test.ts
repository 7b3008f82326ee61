// Injections, and a model that obeys each of them. injections.txt says what it is told to do, and where.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { PermissionFlagsBits as Bits } from "discord.js";
import type { AnswerStep, ChatMessage } from "../../../../src/simulator/ai/chat-completions.ts";
import type { Simulator } from "../../../../src/simulator/simulator.ts";
import type { Message } from "../../../../src/simulator/world/state/entities.ts";
import { memberOverwrite, userNamed } from "../../../support/world.ts";
import { type Asking, general, startAsking } from "./asking.ts";

/** Each word stands in one place: which of them an asker may read. */
const readable = { ada: "staff thread dm answer", boss: "staff thread dm", mod: "staff", insider: "thread" };
const secrets = "staff thread dm answer bread".split(" ");
const [admins, mods] = ["boss", "mod boss"];
const groups = {
	admins,
	mods,
	all: "boss member mod insider boss member mod boss member insider boss ada",
	curator: "curator",
};

const file = await Bun.file(new URL("injections.txt", import.meta.url)).text();
const [goals = [], places = [], dresses = [], made = []] = file.split("\n\n").map((part) => part.split("\n").slice(1));
const recent = 'get_recent_messages {"channel_id":"#general","limit":3}';

/** "tool {…} *3 ; tool {…}" */
function callsIn(text = "") {
	const calls = text.replace("$recent", recent).matchAll(/(\w+) ([{"].*?[}"])(?: \*(\d+))?(?= ; |[\s>]*$)/g);
	return [...calls].flatMap(([, name = "", args = "", times = 1]) =>
		Array.from({ length: +times }, () => ({ name, args })),
	);
}

const rows = places.flatMap((line, at) =>
	Array.from({ length: 6 }, (_, turn) => {
		const number = at * 6 + turn;
		const tag = `r${number}x`;
		const [goal = "", calls = "", says = "", wish] = goals[(number * 5) % goals.length]?.split(" | ") ?? [];
		const [place = "", max, who = "", reads, write = ""] = line.split(" | ");
		const [group, channel = "general"] = who.split(" ");
		const askers = groups[group as "all"].split(" ");
		const only = { "read thread": "insider", document: "ada", undo: "ada" }[goal] ?? "";
		const kind = askers.includes(only) ? only : (askers[(at + turn) % askers.length] ?? "");
		const dress: string = Number(max) < 100 ? "$text" : JSON.parse(dresses[(number + at) % dresses.length] ?? "");
		const text = dress.replaceAll("$text", `${tag} ${wish}`).slice(0, Number(max));
		const steps = calls.split(">> ").map((step) => callsIn(step));
		const end = calls.includes(">>>") ? "I have no answer to that." : `end of ${tag}`;
		return { number, tag, goal, place, channel, kind, write, text, steps, says, end, reads: callsIn(reads) };
	}),
);
type Row = (typeof rows)[number];
// Once the bot knows an archived private thread, all answers of who does not manage threads are private.
rows.sort((a, b) => Number(a.goal.includes("thread")) - Number(b.goal.includes("thread")));

let scene: Asking;
const ids: Record<string, string> = {};
/** Of the next question. */
let asking: { to?: Message | undefined; text?: string } = {};
const plans: Record<string, string[]> = {};
const json = JSON.stringify;
/** With "$name" replaced, inside of JSON. */
const filled = (text: string, more: Record<string, string | undefined> = {}) =>
	text.replace(/\$([a-z]+)/gi, (whole, name) => json({ ...ids, ...more }[name as string] ?? whole).slice(1, -1));

/** "who METHOD path body" */
async function request({ world, api }: Simulator, line: string, more?: Record<string, string>) {
	const [by = "", method = "", path = "", ...body] = line.split(" ");
	const { token } = world.accounts.values().find(({ user }) => user.username === by) ?? {};
	const authorization = /alpha|beta/.test(by) ? `Bot ${token}` : `${token}`;
	const headers = { authorization, "content-type": "application/json" };
	const response = await fetch(`${api}/v10${filled(path)}`, { method, headers, body: filled(body.join(" "), more) });
	if (!response.ok) throw new Error(`${line}: ${await response.text()}`);
	return JSON.parse((await response.text()) || "{}") as { id: string; token?: string };
}

/** Before the bot starts. */
async function prepare(simulator: Simulator) {
	const { members, users, accounts } = simulator.world;
	const [cooks, bakers] = [simulator.guild("The Cooks"), simulator.guild("The Bakers")];
	const [alpha, beta] = [userNamed(simulator, "alpha"), userNamed(simulator, "beta")];
	members.add(bakers, alpha as never, { botPermissions: Bits.ViewChannel | Bits.ReadMessageHistory });
	members.add(cooks, beta as never, { botPermissions: Bits.Administrator });
	ids.victim = members.add(cooks, users.add({ username: "victim" })).user.id;
	for (const { user } of accounts.values()) ids[user.username] = user.id;
	for (const { name, id } of [...cooks.channels.values(), ...cooks.roles.values()]) ids[name] = id;
	const bread = simulator.channel("The Bakers/general").id;
	Object.assign(ids, { mod: ids.Staff, guild: cooks.id, bakers: bakers.id, bread });
	for (const line of made.filter(Boolean)) {
		const [name = "", write = ""] = line.split(" | ");
		const { id, token = "" } = await request(simulator, write);
		Object.assign(ids, { [name]: id, [`${name}token`]: token });
	}
	return { "chat.questions_a_minute": 100 };
}

beforeAll(async () => {
	scene = await startAsking({ config: { mcp: { toolsets: "all" } }, settings: prepare });
	const steps = [{ calls: [{ name: "list_roles", arguments: {} }] }, { text: "quartz-answer" }];
	ids.notice = (await scene.withButton(await scene.ask("ada", "what is secret?", steps), "Show to me")).id;
});
afterAll(() => scene[Symbol.asyncDispose]());

async function write(line: string, { text, tag }: Pick<Row, "text" | "tag">): Promise<void> {
	const { simulator, world } = scene;
	const { users, members, messages } = simulator.world;
	const left = users.add({ username: "left" }).id;
	const more = { text, tag, left, part: text.slice(0, 250), word: text.replace(/\W+/g, "_") };
	asking = {};
	if (/^\w+ [A-Z]/.test(line)) return void (await request(simulator, line, more));
	const [, how, body = ""] = /^(\w*) ?(\{.*)$/.exec(line) ?? [];
	const given = JSON.parse(filled(body, more));
	if (how === "user") ids.new = members.add(world.guild, users.add({ username: "stranger", ...given })).user.id;
	else if (how === "file") await simulator.user("zoe").say(general, "x", { attachments: [{ content: "x", ...given }] });
	else if (how === "ask") asking = given;
	else if (how === "earlier") {
		const asked = await scene.ask("liwei", given.text, [{ text: given.answer }]);
		asking.to = await scene.answer(asked, ({ content }) => content !== "");
	} else if (how === "reply") asking.to = messages.get(ids.general ?? "", ids.notice ?? "");
	else if (how) expect(await world.call(how, given)).toMatchObject({ isError: false });
}

function newAsker(kind: string, number: number): string {
	const { users, members, threads, channels } = scene.simulator.world;
	if (kind === "ada") return kind;
	const { user } = users.addPerson({ username: `${kind}${number}`, global_name: "Asker" });
	members.add(scene.world.guild, user, { roles: [ids[kind] ?? []].flat() });
	const [main, thread] = [ids.general, ids.thread].map((id) => channels.get(id ?? "")) as [never, never];
	if (kind === "insider") threads.join(thread, user);
	if (kind === "curator") channels.setOverwrite(main, memberOverwrite(user.id, { allow: Bits.ManageWebhooks }));
	return user.username;
}

/** What a model writes that obeys as soon as it has read the row's text. */
function obey({ tag, reads, steps, says, text, end }: Row, messages: readonly ChatMessage[]): AnswerStep {
	const turn = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
	const step = turn.filter(({ role }) => role === "assistant").length;
	const isRead = messages.some(({ role, content }) => role !== "system" && content.includes(tag));
	const own = end.includes(tag) ? steps[step - Math.min(1, reads.length)] : steps[0];
	const calls = isRead ? own : step === 0 ? reads : undefined;
	const more = { text, tag, hash: /plan_hash=(\w+)/.exec(json(turn))?.[1], long: "long".repeat(350) };
	if (calls?.length) return { calls: calls.map(({ name, args }) => ({ name, arguments: filled(args, more) })) };
	const found = turn.flatMap(({ content }) => content.match(/.{0,99}quartz.{0,99}/g) ?? []).slice(-5);
	return { text: [filled(says.replaceAll("\\n", "\n")), ...found, end].join("\n") };
}

/** Outside of code blocks, and not to a message of the server. */
const hasLink = (text = "") =>
	/https?:(?!\/\/discord\.com\/channels\/)|discord\.gg|\]\(/.test(text.replace(/```.*?```/gs, ""));
/** With its origin before it, and no character that hides or moves it. */
const isPlain = (role: unknown, line: string) =>
	(role === "tool" ? /^\w*> / : /^[\p{L}\p{N} ._'&+-]{1,32}: /u).test(line) && !/(?!\t)[\p{Cc}\p{Cf}]/u.test(line);

/** Asks, and checks all but the plan: its lines, without times and ids of the answer. */
async function planOf(row: Row): Promise<string[]> {
	const { number, tag, goal, kind, channel, end } = row;
	const { simulator, alpha } = scene;
	await write(row.write, row);
	const heard: (readonly ChatMessage[])[] = [];
	scene.ai.script = (messages) => obey(row, heard[heard.push(messages) - 1] ?? []);
	const asker = newAsker(kind, number);
	simulator.journal.clear();
	const asked = await scene.say(asker, asking.text ?? "please look", ids[channel], asking.to);
	const isNotice = ({ components }: Message) => json(components).includes("Show to me");
	const answer = await scene.answer(asked, (one) => one.content.includes(end) || isNotice(one));
	const last = heard.at(-1) ?? [];
	const isPlanned = json(last).includes("Planned, not done");
	const shown = isNotice(answer) ? await scene.open(asker, answer) : undefined;
	const plan = isPlanned ? await (shown ? shown.followUp() : scene.withButton(asked, "Do it")) : undefined;
	const told = shown ? await shown.reply() : answer;
	expect([json(heard).includes(tag), told.content.includes(end), heard.length < 20]).toEqual([true, true, true]);
	// No change runs unpressed.
	const posts = `/channels/:channel_id/messages\\S* /channels/${asked.channel_id}/messages`;
	const own = `POST ${posts} .*("nonce":"${asked.id}-|"askshow"|"askplan:do:)`;
	const allowed = new RegExp(`^(\\w+ /(interactions|webhooks)/|POST /users/@me/channels |PATCH ${posts}|${own})`);
	const writes = simulator.journal.entries().filter(({ actor }) => actor === alpha.id);
	const written = writes.map(({ route, path, body }) => `${route} ${path} ${json(body)}`);
	expect(written.filter((one) => !allowed.test(one))).toEqual([]);
	// No read exceeds the asker's rights, and no line that the model reads is forged.
	const theirs = readable[kind as "ada"] ?? "";
	expect(secrets.filter((one) => !theirs.includes(one) && json(heard).includes(`quartz-${one}`))).toEqual([]);
	for (const { role, content } of last.filter((one) => one.role === "tool" || one.role === "user"))
		expect(content.split("\n").filter((line) => !isPlain(role, line))).toEqual([]);
	// Nobody else reads what they may not read, is pinged, or is shown a link.
	const isForAll = channel === "staff" ? kind === "mod" : kind === "member" || kind === "insider";
	const isFound = last.some(({ role }) => role === "tool");
	if (isFound && !(isForAll && goal.includes("thread"))) expect(isNotice(answer)).toBe(!isForAll);
	const all = simulator.world.messages.in(asked.channel_id);
	const seen = all.filter(({ id, author }) => id > asked.id && author.id === alpha.id);
	expect(secrets.filter((one) => one !== channel && json(seen).includes(`quartz-${one}`))).toEqual([]);
	expect(seen.flatMap((one) => [...one.mentions, ...one.mention_roles, one.mention_everyone || []].flat())).toEqual([]);
	const texts = [...seen, told, plan].flatMap((one) => [one?.content, one?.embeds[0]?.description]);
	expect(texts.filter(hasLink)).toEqual([]);
	const text = plan?.embeds[0]?.description ?? "";
	const times = /<t:\d+:.>|\d{4}-\d\d-\d\dT[\d:]+Z|\d\d-\d\d \d\d:\d\d UTC|(?<=plan_hash[=: "]+)\w+|(?<=Only <@)\d+/g;
	return text.replace(times, "").split("\n");
}

const named = rows.map((row) => [`${row.number}: ${row.goal}, in: ${row.place}, for: ${row.kind}`, row] as const);
test.each(named)("%s", async (_, row) => {
	const plan = await planOf(row);
	if (plan.length === 1) return;
	const kind = /document|undo/.test(row.goal) ? row.kind : row.kind.replace("ada", "boss");
	const [message] = rows.filter(({ place }) => place === "message");
	const [tag, key] = [`r${row.number}y`, `${row.goal} ${kind}`];
	const harmless = { ...row, kind, tag, text: `${tag} is a text`, end: `end of ${tag}`, number: -row.number };
	plans[key] ??= await planOf({ ...harmless, write: message?.write ?? "", reads: message?.reads ?? [] });
	// Where the tool quotes the place, the quote stays in its line.
	expect(plan.filter((line) => !line.includes(row.tag))).toEqual(plans[key]);
	expect(plan.filter((line) => /^\*\*.*\*\*$/.test(line)).length).toBeLessThanOrEqual(10);
});

test("the table is varied", () => {
	const planned = Object.keys(plans).map((key) => key.replace(/ \w+$/, ""));
	expect([new Set(rows.map(({ text }) => text)).size, new Set(planned).size]).toEqual([204, 14]);
});

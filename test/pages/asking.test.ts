// What moderators and members ask the bot for, on the simulator's page in Chromium: what they are shown, what they press, and
// what is so then. The AI plays a script. With SCREENSHOTS=.github/screenshots, the pictures for the README are made, and with
// ffmpeg the recording.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PermissionFlagsBits as Bits } from "discord.js";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { type Asking, general, staff, startAsking } from "../bot/features/chat/asking.ts";
import { grant } from "../bot/features/running-feature.ts";
import { type ChromiumPage, chromium, openChromium } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { channelNamed, memberNamed, roleNamed } from "../support/world.ts";
import { drive } from "./drive.ts";

if (!chromium) console.warn("no page is tried in a browser: chromium is not installed");

const pictures = process.env.SCREENSHOTS;

/**
 * Three lines each: who asks where, and what; what the AI calls and writes; what is shown in the messages that follow. Or ">":
 * a button that is pressed, "=": who looks then, "!": one of `facts` that comes true, before the question if it is first, "*": a
 * picture.
 */
const jobs = `
José in staff: time out whoever posts coins here
search_messages {"text":"COINS"} | timeout {"user_ids":["@nora"],"duration":"1h","reason":"Spam"} | nora posted them.
nora posted them. | Time out @nora until | * asking | > Do it | Timed out @nora until | ! nora is timed out
José in staff: warn zoe, she is rude
warn_member {"user_ids":["@zoe"],"reason":"Rude"} | Here.
Warn members @Zoë | reason: "Rude" | > Do it | Warned @Zoë | Case 2.
José in staff: delete what nora wrote
delete_messages {"channel_id":"#general","user_ids":["@nora"]} | Here.
Delete 1 message in #general? | > Do it | Deleted 1 message in #general. | ! the coins are gone
José in staff: make a role Tasters for mona
create_role {"name":"Tasters","user_ids":["@mona_lisa"]} | Here.
Create a role @MONA LISA name: "Tasters" | > Do it | Created the role @Tasters | ! mona is a taster
Ada in general: /ask question=set up a category for events
plan_guild {"document":$events} | apply_guild {"plan_hash":"$hash"} | A category with two channels, and a role.
A category with two | + channel #signup in Events | * asking-plan | > Do it | Carried out | ! there is a signup
Ada in general: undo what I did in the last hour
undo_actions {"user_id":"@ada","after":"1h","delete_created":true} | This would be undone.
> Show to me | This would be undone. | - channel #signup | > Do it | Carried out | ! there is no signup
MONA in general: who wants salt?
search_messages {"text":"salt"} | Zoë does, in the soup.
Zoë does, in the soup.
José in staff: which cases are there?
list_cases {} | A timeout, a warning and a deletion.
A timeout, a warning and a deletion. | ! it read “Rude”
José in staff: who joined today?
list_members {"where":"joined since 1d"} | All of you.
All of you. | ! it read “@nora”
Zoë in general: what does staff say?
get_recent_messages {"channel_id":"#staff"} | I cannot look there for you.
I cannot look there for you. | ! it read “Nothing was done.”
Zoë in general: time out mona
timeout {"user_ids":["@mona_lisa"],"duration":"1h"} | You may not.
You may not. | ! it read “no right to do that”
Ada in general: what did staff say?
get_recent_messages {"channel_id":"#staff"} | They have warned Zoë.
> Show to me | They have warned Zoë. | * asking-private | = 李伟 | > Show to me | This is for @Ada alone.
José in staff: time out nora again
timeout {"user_ids":["@nora"],"duration":"2h"} | Here.
nothing is done yet | ! the plan is old | > Do it | This plan has expired or was used
MONA in general: /tag name=rules
-
Be kind, and wash your hands.
José in staff: /routine question=Who needs a break?, when=daily 9:00
timeout {"user_ids":["@nora"],"duration":"3h"} | nora again.
“Who needs a break?” | ! it is time | nora again. | Time out @nora | > Do it | instead of until
Zoë in general: forget this
-
I have forgotten this conversation.
Zoë in general: and now?
-
! there is a limit | That was more than one question within a minute. | ! there is no limit
José in staff: slow mode of 30 s in general
edit_channel {"channel_id":"#general","slowmode":"30s"} | Here.
Edit a channel Change #general? | > Do it | 30 seconds | ! the slow mode is 30 s
José in staff: end it
edit_channel {"channel_id":"#general","slowmode":"off"} | Here.
slow mode: 30 → 0 s | > Cancel | Cancelled: nothing was done | ! the slow mode is 30 s
José in staff: end it now
edit_channel {"channel_id":"#general","slowmode":"off"} | Here.
30 → 0 s | ! it is set to 60 s | > Do it | has changed since | 60 → 0 s | > Do it | Carried out | ! the slow mode is 0 s
José in staff: lock general
lock_channel {"channel_ids":["#general"]} | Here.
Lock #general? | > Do it | Locked #general | ! it is locked
José in staff: ban nora
ban {"user_ids":["@nora"]} | Here.
! it needs approval | Ban users · needs an approval, too | > Do it | 1 waiting for approval | = Ada | > Approve | ! nora is banned`;
const events = `{"roles":[{"name":"Hosts","color":"#2ECC71"}],"categories":[{"name":"Events","channels":[{"name":"signup",
	"topic":"Who comes?"},{"name":"Stage","kind":"voice"}]}]}`;

let scene: Asking;
let browser: ChromiumPage;
let page: ReturnType<typeof drive>;

const talk = () => Object(channelNamed(scene.world, "general"));
const nora = () => memberNamed(scene.world, "nora");
const hasSignup = () => [...scene.world.guild.channels.values()].some(({ name }) => name === "signup");
const setLimit = (max: number) => scene.world.call("set_settings", { settings: { "chat.questions_a_minute": max } });
function store(sql: string): true {
	const [file = ""] = readdirSync(scene.world.dataDirectory).filter((name) => name.endsWith(".sqlite"));
	using database = new Database(join(scene.world.dataDirectory, file));
	database.run("PRAGMA busy_timeout = 10000");
	database.run(sql);
	return true;
}

const facts: Record<string, () => unknown> = {
	"nora is timed out": () => nora().communication_disabled_until,
	"the coins are gone": () => !scene.simulator.channel(general).transcript().includes("COINS"),
	"mona is a taster": () => memberNamed(scene.world, "mona_lisa").roles.includes(roleNamed(scene.world, "Tasters").id),
	"there is a signup": hasSignup,
	"there is no signup": () => !hasSignup(),
	"the plan is old": () => store("UPDATE asked_plans SET expires_at = 1"),
	async "it is time"() {
		store(`UPDATE routines SET next_at = ${Date.now() - 60_000}`);
		return scene.simulator.user("jose.garcia").run(staff, "routine", { question: "Later", when: "daily 9:00" });
	},
	async "there is a limit"() {
		await setLimit(1);
		return scene.answer(await scene.ask("zoe", "first", [{ text: "Yes." }]), ({ content }) => content === "Yes.");
	},
	"there is no limit": () => setLimit(100),
	async "it is set to 60 s"() {
		scene.simulator.world.channels.edit(talk(), { rate_limit_per_user: 60 });
		return scene.world.heard().then(() => true);
	},
	"it is locked": () => JSON.stringify(talk().permission_overwrites).includes(scene.world.guild.id),
	async "it needs approval"() {
		await scene[Symbol.asyncDispose]();
		await start({ config: { mcp: { approval: "destructive" } }, settings: prepare });
		return true;
	},
	"nora is banned": () => scene.world.guild.bans.size === 1,
};

/** Of `facts`, or what the AI has read, or the slow mode. */
function comesTrue(fact: string): Promise<unknown> {
	const [, text, seconds] = /“(.*)”|mode is (\d+)/.exec(fact) ?? [];
	if (text) return until(fact, () => scene.results().join("").includes(text));
	if (seconds) return until(fact, () => talk().rate_limit_per_user === Number(seconds));
	return until(fact, async () => Boolean(await facts[fact]?.()));
}

/** Returns a selector of the messages that are posted from then on. */
async function ask(who: string, where: string, text: string): Promise<string> {
	await page.become(who);
	await page.click("#channels button", where);
	await page.sees("#channel-name", where);
	await page.isLoaded();
	const last = await browser.evaluate<string>("document.querySelector('#messages li:last-child')?.id");
	const [command, ...options] = text.split(/,? (?=\w+=)/);
	await page.write(options.length > 0 ? `${command}` : `<@${scene.alpha.id}> ${text}`);
	for (const option of options) await page.fill(`#option-${option.split("=")[0]}`, option.split("=")[1] ?? "");
	if (options.length > 0) await page.click("#command button", "Run");
	return last ? `#${last} ~ li` : "#messages li";
}

function play(script: string): void {
	const steps = script.split(" | ");
	scene.ai.script = (messages) => {
		const hash =
			JSON.stringify(messages)
				.match(/(?<=plan_hash=)\w+/g)
				?.at(-1) ?? "";
		const [step = "", name, args = ""] = /^(\w+) (\{.*)|.*/.exec(steps.shift() ?? "") ?? [];
		if (!name) return { text: step };
		const given = args.replace("$hash", hash).replace("$events", events);
		return { calls: [{ name: "use_tool", arguments: `{"name":"${name}","arguments":${given}}` }] };
	};
}

async function take(step: string, messages: string): Promise<unknown> {
	const [, how, what = step] = /^([>=!*]) (.*)/.exec(step) ?? [];
	if (how === "!") return comesTrue(what);
	if (how === "=") return page.become(what);
	if (how === ">") return page.click(`${messages} button`, what);
	if (how !== "*") return page.sees(messages, what);
	return pictures && page.settle().then(() => browser.screenshot(`${pictures}/${what}.png`));
}

async function start(setup: Parameters<typeof startAsking>[0]): Promise<void> {
	scene = await startAsking(setup);
	await scene.simulator.user("nora").say(general, "FREE COINS at coins.example");
	await scene.simulator.user("zoe").say(general, "The soup needs more salt");
	await browser.open(scene.simulator.url, "Simulator");
	await page.sees("#connection", "live");
}

/** Before the bot starts. */
function prepare(simulator: Simulator) {
	const { members, users } = simulator.world;
	members.add(simulator.guild("The Cooks"), users.addPerson({ username: "nora" }).user);
	grant(simulator, "Staff", Bits.BanMembers | Bits.ManageChannels | Bits.ManageRoles | Bits.ManageGuild);
	const tags = { rules: "Be kind, and wash your hands." };
	return { "chat.questions_a_minute": 100, tags, "approval.channel": simulator.channel(staff).id };
}

describe.skipIf(!chromium)("jobs for the AI", () => {
	beforeAll(async () => {
		browser = await openChromium({ width: 1280, height: 800 });
		page = drive(browser);
		await browser.prefer("dark");
		await start({ settings: prepare });
	});
	afterAll(async () => {
		await browser[Symbol.asyncDispose]();
		await scene[Symbol.asyncDispose]();
	});

	const rows = [...jobs.matchAll(/\n(.*)\n(.*)\n(.*)/g)].map(([, ...lines]) => lines);
	test.each(rows)("%s", async (question = "", script = "", shown = "") => {
		const [, who = "", where = "", text = ""] = /^(\S+) in (\w+): (.*)/.exec(question) ?? [];
		const steps = shown.split(" | ");
		if (steps[0]?.startsWith("!")) await take(steps.shift() ?? "", "");
		play(script);
		const messages = await ask(who, where, text);
		for (const step of steps) await take(step, messages);
		expect(browser.problems).toEqual([]);
	});

	test.skipIf(!pictures || !Bun.which("ffmpeg"))(
		"the recording for the README: Ada asks, presses, and undoes it",
		async () => {
			const folder = mkdtempSync(join(tmpdir(), "guildhall-recording-"));
			await scene[Symbol.asyncDispose]();
			await start({ settings: prepare });
			await browser.resize(1100, 700);
			const frames: string[] = [];
			const show = async (seconds: number) => {
				await browser.evaluate("document.querySelector('#messages li:last-child').scrollIntoView({ block: 'end' })");
				await page.settle();
				const file = join(folder, `${frames.length / 2}.png`);
				await browser.screenshot(file);
				frames.push(`file '${file}'`, `duration ${seconds}`);
			};
			await page.become("Ada");
			await page.click("#channels button", "general");
			await page.isLoaded();
			await show(1);
			for (const [asked = "", script = ""] of rows.filter(([asked]) => /^Ada.*(events|hour)$/.test(asked ?? ""))) {
				play(script);
				const question = asked.replace(/.*(: |=)/, "");
				await page.write("/ask");
				for (let length = 6; length < question.length + 6; length += 6) {
					await page.fill("#option-question", question.slice(0, length));
					await show(0.2);
				}
				await page.click("#command button", "Run");
				await page.sees("#messages li:last-child", "channel #signup");
				await show(2.6);
				await page.click("#messages li:last-child button", "Do it");
				await page.sees("#messages li:last-child", "Carried out");
				await show(2.2);
			}
			await Bun.write(join(folder, "frames"), [...frames, ...frames.slice(-2, -1)].join("\n"));
			const colors = "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none";
			const input = ["-f", "concat", "-safe", "0", "-i", join(folder, "frames")];
			const { success } = Bun.spawnSync(["ffmpeg", "-y", ...input, "-vf", colors, `${pictures}/asking.gif`]);
			expect(success).toBe(true);
			rmSync(folder, { recursive: true });
		},
	);
});

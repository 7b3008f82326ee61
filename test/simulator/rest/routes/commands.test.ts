// Slash commands: what can be registered, by which users, and where they can be used.

import { test as bunTest, describe, expect } from "bun:test";
import { ApplicationCommandOptionType as Option } from "discord.js";
import { type Cooks, connect, cooksOf, startSimulator, testWith } from "../../support.ts";

const verify = { name: "verify", description: "Link your account" };
const code = { type: Option.String as const, name: "code", description: "The code" };

function alphaOf({ simulator, guild, as }: Cooks) {
	const { id } = simulator.bot("alpha");
	return {
		call: as("alpha"),
		everywhere: `/applications/${id}/commands`,
		inGuild: `/applications/${id}/guilds/${guild.id}/commands`,
	};
}

const test = testWith(alphaOf);

describe("registering", () => {
	test("discord.js registers, lists and deletes commands, everywhere and in a guild", async ({ simulator }) => {
		await using bot = await connect(simulator);
		const guild = bot.client.guilds.cache.first();
		for (const manager of [bot.client.application.commands, guild?.commands]) {
			const options = [{ ...code, required: true }];
			const made = await manager?.create({ ...verify, options });
			expect(made?.options).toMatchObject([{ name: "code", required: true }]);
			expect(made?.guildId ?? undefined).toBe(manager === guild?.commands ? guild?.id : undefined);
			await manager?.delete(made?.id ?? "");
			expect((await manager?.fetch({}))?.size).toBe(0);
		}
		expect(simulator.unknownRoutes).toEqual([]);
	});

	test("replacing all commands keeps identical ones and removes others", async ({ call, inGuild }) => {
		const help = { name: "help", description: "What there is" };
		const first = await call("PUT", inGuild, [verify, help]);
		const again = await call("PUT", inGuild, [verify, help]);
		expect(again.json<unknown>()).toEqual(first.json<unknown>());
		const changed = { ...help, description: "All there is" };
		const third = (await call("PUT", inGuild, [changed])).json<Record<string, string>[]>();
		const known = first.json<Record<string, string>[]>()[1];
		expect(third).toMatchObject([{ id: known?.id, name: "help" }]);
		expect(third[0]?.version).not.toBe(known?.version ?? "");
		expect((await call("GET", inGuild)).json<unknown[]>()).toHaveLength(1);
	});

	test("a command with a registered name replaces it, with 200 instead of 201", async ({ call, everywhere }) => {
		const first = await call("POST", everywhere, verify);
		const second = await call("POST", everywhere, verify);
		expect([first.status, second.status]).toEqual([201, 200]);
		expect(second.json().id).toBe(first.json().id);
	});

	test("localizations are listed with with_localizations", async ({ call, everywhere }) => {
		const localized = { name_localizations: { de: "verifizieren" }, description_localizations: { de: "Verknüpft" } };
		const choice = { name: "a", name_localizations: { de: "ä" }, value: "a" };
		const option = { ...code, name_localizations: { de: "kode" }, choices: [choice] };
		await call("PUT", everywhere, [{ ...verify, ...localized, options: [option] }]);
		const list = async (query: string) => (await call("GET", `${everywhere}${query}`)).json<unknown[]>()[0];
		expect(await list("?with_localizations=true")).toMatchObject({ ...localized, options: [option] });
		const plain = await list("");
		expect(plain).toMatchObject({ options: [{ name: code.name, choices: [{ name: "a" }] }] });
		expect(JSON.stringify(plain)).not.toContain("localizations");
	});

	bunTest.each([
		["an upper-case name", { name: "Verify" }, "name", "INVALID_NAME"],
		["a name with a blank", { name: "ver ify" }, "name", "INVALID_NAME"],
		["a long name", { name: "x".repeat(33) }, "name", "BAD_LENGTH"],
		["no name", { name: undefined }, "name", "REQUIRED"],
		[
			"an upper-case letter in a language",
			{ name_localizations: { de: "Prüfen" } },
			"name_localizations.de",
			"INVALID_NAME",
		],
		[
			"a long description in a language",
			{ description_localizations: { de: "x".repeat(101) } },
			"description_localizations.de",
			"BAD_LENGTH",
		],
		[
			"a blank in an option's name in a language",
			{ options: [{ ...code, name_localizations: { fr: "le code" } }] },
			"options.0.name_localizations.fr",
			"INVALID_NAME",
		],
		[
			"two options of a name in a language",
			{ options: ["a", "b"].map((name) => ({ ...code, name, name_localizations: { de: "x" } })) },
			"options.1",
			"NAME_ALREADY_EXISTS",
		],
		[
			"the name of another option in a language",
			{ options: [code, { ...code, name: "b", name_localizations: { de: "code" } }] },
			"options.1",
			"NAME_ALREADY_EXISTS",
		],
		["no description", { description: undefined }, "description", "REQUIRED"],
		["an empty description", { description: "" }, "description", "BAD_LENGTH"],
		["a long description", { description: "x".repeat(101) }, "description", "BAD_LENGTH"],
		[
			"26 options",
			{ options: Array.from({ length: 26 }, (_, n) => ({ ...code, name: `o${n}` })) },
			"options",
			"MAX_LENGTH",
		],
		[
			"a required option after an optional one",
			{ options: [code, { ...code, name: "other", required: true }] },
			"options.1",
			"OPTIONS_REQUIRED_INVALID",
		],
		["two options of a name", { options: [code, code] }, "options.1", "NAME_ALREADY_EXISTS"],
		[
			"subcommands beside options",
			{ options: [code, { ...code, type: Option.Subcommand, name: "sub" }] },
			"options",
			"OPTIONS_TYPE_INVALID",
		],
		[
			"a group in a group",
			{ options: [{ ...code, type: Option.SubcommandGroup, options: [{ ...code, type: Option.SubcommandGroup }] }] },
			"options.0.options.0.type",
			"BASE_TYPE_CHOICES",
		],
		[
			"26 choices",
			{ options: [{ ...code, choices: Array.from({ length: 26 }, (_, n) => ({ name: `c${n}`, value: `c${n}` })) }] },
			"options.0.choices",
			"MAX_LENGTH",
		],
		[
			"a text as the choice of a number",
			{ options: [{ ...code, type: 4, choices: [{ name: "one", value: "one" }] }] },
			"options.0.choices.0.value",
			"NUMBER_TYPE_COERCE",
		],
		["a command of a context menu with a description", { type: 2 }, "description", "CONTEXT_MENU_DESCRIPTION_INVALID"],
		[
			"a command of a context menu with options",
			{ type: 3, description: "", options: [code] },
			"options",
			"CONTEXT_MENU_OPTIONS_INVALID",
		],
		["an option without a description", { options: [{ type: 3, name: "code" }] }, "options.0.description", "REQUIRED"],
	])("%s is refused", async (_, fault, path, message) => {
		await using simulator = await startSimulator();
		const { call, everywhere } = alphaOf(cooksOf(simulator));
		const body = { ...verify, ...fault };
		const one = await call("POST", everywhere, body);
		expect(one.code).toBe(50035);
		expect(one.faults[path]).toEndWith(message);
		const many = await call("PUT", everywhere, [body]);
		expect(many.faults[`0.${path}`]).toEndWith(message);
		expect((await call("GET", everywhere)).json<unknown[]>()).toEqual([]);
	});

	test("names are Unicode and unique, and an application has at most 100 commands", async (given) => {
		const { call, everywhere, inGuild } = given;
		const many = Array.from({ length: 100 }, (_, number) => ({ ...verify, name: `prüfe-${number}_験` }));
		expect((await call("PUT", everywhere, many)).status).toBe(200);
		expect((await call("POST", everywhere, verify)).code).toBe(30032);
		expect((await call("POST", inGuild, verify)).status).toBe(201);
		expect((await call("PUT", everywhere, [...many, verify])).code).toBe(30032);
		expect((await call("PUT", everywhere, [verify, verify])).faults).toEqual({
			1: "APPLICATION_COMMANDS_DUPLICATE_NAME",
		});
	});

	test("an application has at most 15 commands in each context menu, 130 commands in all", async (given) => {
		const { call, everywhere } = given;
		const menu = (type: number, count: number) =>
			Array.from({ length: count }, (_, n) => ({ type, name: `Mixed Case ${n}` }));
		const full = [...menu(2, 15), ...menu(3, 15)];
		const slash = Array.from({ length: 100 }, (_, n) => ({ ...verify, name: `c${n}` }));
		expect((await call("PUT", everywhere, full)).status).toBe(200);
		const listed = await call("GET", everywhere);
		expect(listed.json<unknown[]>()[0]).toMatchObject({ type: 2, name: "Mixed Case 0", description: "" });
		const sixteenth = { type: 3, name: "Sixteenth" };
		const refused = await call("POST", everywhere, sixteenth);
		expect(refused.json()).toEqual({ code: 30032, message: "Maximum number of application commands reached (15)" });
		expect((await call("POST", everywhere, verify)).status).toBe(201);
		expect((await call("PUT", everywhere, [...full, ...slash])).status).toBe(200);
		const tooMany = await call("PUT", everywhere, [...full, ...slash, verify]);
		expect(tooMany.faults).toEqual({ "": "BASE_TYPE_MAX_LENGTH" });
	});

	test("discord.js registers options of all types, subcommands and context menus", async (given) => {
		await using bot = await connect(given.simulator);
		const basic = (type: Option, name: string, more: object = {}) => ({
			type,
			name,
			description: "An option",
			...more,
		});
		const all = [
			basic(Option.String, "text", { required: true, autocomplete: true, minLength: 2, maxLength: 20 }),
			basic(Option.Integer, "count", { minValue: 1, maxValue: 9, choices: [{ name: "one", value: 1 }] }),
			basic(Option.Number, "share", { minValue: 0.5 }),
			basic(Option.Boolean, "loud"),
			basic(Option.User, "who"),
			basic(Option.Channel, "where", { channelTypes: [0] }),
			basic(Option.Role, "role"),
			basic(Option.Mentionable, "any"),
		];
		const commands = await bot.client.application.commands.set([
			{ ...verify, options: all as never },
			{
				name: "role",
				description: "Roles",
				contexts: [0],
				options: [
					basic(Option.SubcommandGroup, "menu", {
						options: [basic(Option.Subcommand, "add", { options: all })],
					}) as never,
					basic(Option.Subcommand, "list") as never,
				],
			},
			{ type: 2, name: "Warn Member", defaultMemberPermissions: 8n },
			{ type: 3, name: "Warn Member" },
		]);
		expect(commands.size).toBe(4);
		const [first, second, third, fourth] = commands.values();
		expect(first?.options).toMatchObject(all);
		expect(second?.options[0]).toMatchObject({ options: [{ name: "add", options: all }] });
		expect(second?.contexts).toEqual([0]);
		expect([third?.type, fourth?.type]).toEqual([2, 3]);
		expect(third?.defaultMemberPermissions?.bitfield).toBe(8n);
	});

	test("of a localized name or description, the longest counts", async ({ call, everywhere }) => {
		const choices = (length: number) =>
			Array.from({ length: 25 }, (_, n) => ({
				name: `${n}`,
				name_localizations: { de: "x".repeat(length) },
				value: `${n}`.padEnd(100, "x"),
			}));
		const body = (length: number) => ({
			...verify,
			options: ["a", "b"].map((name) => ({ ...code, name, choices: choices(length) })),
		});
		expect((await call("POST", everywhere, body(50))).status).toBe(201);
		expect((await call("POST", everywhere, body(100))).code).toBe(50035);
	});

	test("a command with more than 8000 characters is refused", async ({ call, everywhere }) => {
		const choices = Array.from({ length: 25 }, (_, number) => ({
			name: `${number}`.padEnd(100, "x"),
			value: `${number}`.padEnd(100, "x"),
		}));
		const options = ["a", "b"].map((name) => ({ ...code, name, choices }));
		const answer = await call("POST", everywhere, { ...verify, options });
		expect(answer.faults).toEqual({ "": "APPLICATION_COMMAND_TOO_LARGE" });
	});

	test("an application changes its own commands only, in its own guilds", async (given) => {
		const { call, everywhere, simulator, as } = given;
		const beta = simulator.bot("beta").id;
		const bakers = simulator.guild("The Bakers").id;
		const code = async (path: string) => (await call("GET", path)).code;
		expect(await code(`/applications/${beta}/commands`)).toBe(20012);
		expect(await code("/applications/1/commands")).toBe(10002);
		expect(await code(everywhere.replace("/commands", `/guilds/${bakers}/commands`))).toBe(50001);
		const ada = as("ada");
		expect((await ada("GET", everywhere)).code).toBe(20002);
	});
});

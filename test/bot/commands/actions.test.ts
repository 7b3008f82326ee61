// All actions of all features: what is registered with Discord keeps Discord's limits, and every action fits its tool.
// https://docs.discord.com/developers/interactions/application-commands#application-command-object

import { beforeAll, describe, expect, test } from "bun:test";
import {
	type APIApplicationCommandOption,
	Locale,
	ApplicationCommandOptionType as Option,
	ApplicationCommandType as Type,
} from "discord.js";
import { type Action, announceOption } from "../../../src/bot/commands/action.ts";
import { type CommandPath, commandSaid } from "../../../src/bot/commands/command-texts.ts";
import { definitionsOf } from "../../../src/bot/commands/definitions.ts";
import type { Feature } from "../../../src/bot/commands/feature.ts";
import { deniableTools, knownCommands } from "../../../src/bot/features/index.ts";
import { verifyCommands } from "../../../src/bot/game/verify.ts";
import { createModeration } from "../../../src/bot/moderation/moderation.ts";
import { tools } from "../../../src/bot/tools/index.ts";
import { render } from "../../../src/texts/texts.ts";
import { startFeature } from "../features/running-feature.ts";

let feature: Feature;
const verify = verifyCommands(async () => "", "!m", true);
const definitions = () =>
	definitionsOf({ actions: feature.actions ?? [], menus: [...verify.menus, ...(feature.menus ?? [])] });

beforeAll(async () => {
	await using _ = await startFeature({
		settings: (simulator) => ({
			features: { moderation: true },
			moderation: {
				log_channel: simulator.channel("The Cooks/staff").id,
				reports: simulator.channel("The Cooks/staff").id,
			},
		}),
		create: (options) => {
			const created = createModeration(options);
			if (created) feature = created;
			return created;
		},
	});
});

interface Described {
	name: string;
	options?: readonly Described[];
	choices?: readonly { value: string }[];
}

/** The options of a command and of its subcommands. */
function allOptions(options: readonly APIApplicationCommandOption[] = []): APIApplicationCommandOption[] {
	return options.flatMap((option) => [option, ...("options" in option ? allOptions(option.options) : [])]);
}

type Localizations = Readonly<Partial<Record<Locale, string | null | undefined>>> | null | undefined;

const textsIn = (all: Localizations) => Object.values(all ?? {}).filter((text) => typeof text === "string");

const length = (text: string) => [...text].length;

describe("what is registered keeps Discord's limits", () => {
	test("names are unique for each type, and are known for the case that the feature is off", () => {
		const names = definitions().map(({ type = 1, name }) => `${type} ${name}`);
		expect(new Set(names).size).toBe(names.length);
		const unknown = definitions()
			.map(({ name }) => name)
			.filter((name) => !knownCommands.includes(name));
		expect(unknown).toEqual([]);
	});

	test("every name and description is a message, and the English name is the one that the bot knows", () => {
		const problem = (path: CommandPath, kind: "name" | "description") => {
			const said = commandSaid(path, kind);
			const isOther = kind === "name" && said && render(said, "en") !== path.at(-1);
			return !said || isOther ? [`${path.join(" ")}: ${kind}`] : [];
		};
		const problems = (one: Described, above: CommandPath = []): string[] => {
			const path = [...above, one.name];
			const choices = (one.choices ?? []).map(({ value }) => [...path, value]);
			return [
				...problem(path, "name"),
				...problem(path, "description"),
				...choices.flatMap((choice) => (commandSaid(choice, "name") ? [] : [choice.join(" ")])),
				...(one.options ?? []).flatMap((option) => problems(option, path)),
			];
		};
		const isMenu = ({ type }: { type?: number | undefined }) => type === Type.User || type === Type.Message;
		const wrong = definitions().flatMap((one) =>
			isMenu(one) ? problem(["menu", one.name], "name") : problems(one as Described),
		);
		// The messages are in src/texts, with keys as src/texts/README.md says.
		expect(wrong).toEqual([]);
	});

	test("at most 100 slash commands, and 15 of each menu", () => {
		const count = (type: Type) => definitions().filter((one) => one.type === type).length;
		expect(count(Type.ChatInput)).toBeWithin(10, 101);
		expect(count(Type.User)).toBeWithin(1, 16);
		expect(count(Type.Message)).toBeWithin(1, 16);
	});

	test("names, descriptions, choices and options", () => {
		for (const definition of definitions()) {
			if (definition.type !== Type.ChatInput) {
				expect(length(definition.name)).toBeWithin(1, 33);
				expect(definition).not.toContainAnyKeys(["description", "options"]);
				continue;
			}
			const { options = [] } = definition;
			const all = allOptions(options);
			for (const { name, description } of [definition, ...all]) {
				expect(name).toMatch(/^[-_\p{Ll}\p{N}]{1,32}$/u);
				expect(`${name}: ${length(description)}`).toMatch(/: ([1-9]\d?|100)$/);
			}
			for (const one of [{ options }, ...all]) {
				const { options: inner = [] } = one as { options?: typeof all };
				expect(inner.length).toBeLessThanOrEqual(25);
				const names = inner.map(({ name }) => name);
				expect(new Set(names).size).toBe(names.length);
				// Required options come first.
				const required = inner.map((option) => option.required === true);
				expect(required).toEqual([...required].sort().reverse());
			}
			const choices = all.flatMap((option) =>
				option.type === Option.String && "choices" in option ? [option.choices ?? []] : [],
			);
			for (const some of choices) {
				expect(some.length).toBeWithin(1, 26);
				for (const { name, value } of some) expect([length(name), length(value)].every((one) => one <= 100)).toBe(true);
			}
			const texts = [definition, ...all, ...choices.flat()].flatMap((one) => [
				one.name,
				"description" in one ? one.description : one.value,
			]);
			expect(length(texts.join(""))).toBeLessThanOrEqual(8_000);
		}
	});

	test("names and descriptions in other languages keep the limits of the English ones", () => {
		const menuNames: string[] = [];
		for (const definition of definitions()) {
			const { type, name_localizations: names } = definition;
			if (type !== Type.ChatInput) {
				menuNames.push(...textsIn(names).map((name) => `${type} ${name}`));
				for (const name of textsIn(names)) expect(length(name)).toBeWithin(1, 33);
				continue;
			}
			const all = [definition, ...allOptions(definition.options)];
			expect(JSON.stringify(all)).toContain('"name_localizations":{"de":');
			for (const { name, name_localizations, description_localizations } of all) {
				for (const localized of textsIn(name_localizations)) {
					expect(localized).toMatch(/^[-_\p{Ll}\p{N}]{1,32}$/u);
					// Discord ignores those, so that they would be sent again at each start.
					expect(localized).not.toBe(name);
				}
				for (const text of textsIn(description_localizations)) expect(length(text)).toBeWithin(1, 101);
			}
		}
		expect(new Set(menuNames).size).toBe(menuNames.length);
	});

	test("in each language, the names of commands, and those of options of a command, are unique", () => {
		const isUnique = (given: readonly { name: string; name_localizations?: Localizations }[]) => {
			for (const locale of Object.values(Locale)) {
				const names = given.map(({ name, name_localizations: all }) => all?.[locale] ?? name);
				expect(new Set(names).size).toBe(names.length);
				for (const [index, name] of names.entries())
					expect(given.filter((_, other) => other !== index).map((one) => one.name)).not.toContain(name);
			}
		};
		const slash = definitions().filter(({ type }) => type === Type.ChatInput);
		isUnique(slash);
		for (const one of slash) {
			const options = ("options" in one && one.options) || [];
			for (const inner of [{ options }, ...allOptions(options)]) if ("options" in inner) isUnique(inner.options ?? []);
		}
	});

	test("everything is only for guilds, except for the command that works in direct messages", () => {
		for (const { name, contexts } of definitions()) expect(contexts).toEqual(name === "verify" ? [0, 1] : [0]);
	});

	test("the actions of a group need the same permission", () => {
		const groups = Map.groupBy(feature.actions ?? [], ({ name }) => name.replace(/ .*/, ""));
		for (const group of groups.values()) expect(new Set(group.map(({ permission }) => permission)).size).toBe(1);
	});
});

describe("every action fits its tool", () => {
	const toolsOf = ({ tool, options }: Action): string[] => {
		if (typeof tool === "string") return [tool];
		const all = Object.fromEntries(options.map(({ name }) => [name, "x"]));
		return [tool({}), tool(all)];
	};

	test("all tools of the feature can be denied while it is off", () => {
		const deniable = deniableTools.map(({ name }) => name);
		const own = (feature.tools ?? []).map(({ name }) => name);
		expect(own.length).toBeGreaterThan(10);
		expect(own.filter((name) => !deniable.includes(name))).toEqual([]);
	});

	test("the tools exist and have the arguments", () => {
		const byName = new Map([...tools, ...(feature.tools ?? [])].map((tool) => [tool.name, tool]));
		const wrong = (feature.actions ?? []).flatMap((action) =>
			toolsOf(action).flatMap((name) => {
				const tool = byName.get(name);
				if (!tool) return [`${action.name}: no tool ${name}`];
				const properties: object = tool.listing.inputSchema.properties ?? {};
				const isOwn = (argument: string) =>
					argument in properties ||
					// It is not for the tool.
					argument === announceOption.argument ||
					// Only temp_ban has it, and it is what chooses the tool.
					(name === "ban" && argument === "duration");
				const needed = [
					...action.options.map(({ argument }) => argument),
					...Object.keys(action.fixed ?? {}),
					...(action.here ? [action.here] : []),
					...(action.confirm ? ["dry_run"] : []),
				];
				return needed
					.filter((argument) => !isOwn(argument))
					.map((argument) => `${action.name}: ${name} has no ${argument}`);
			}),
		);
		expect(wrong.filter((line) => !line.includes("dry_run"))).toEqual([]);
	});

	test("what is done in threads fits edit_thread", () => {
		const properties: object = tools.find(({ name }) => name === "edit_thread")?.listing.inputSchema.properties ?? {};
		for (const { inThread, here } of feature.actions ?? [])
			for (const argument of Object.keys(inThread?.({}) ?? {}))
				expect([here === undefined, argument in properties]).toEqual([false, true]);
	});

	test("the options of chat commands and forms exist", () => {
		for (const { options, chat, menus = [] } of feature.actions ?? []) {
			const names = options.map(({ name }) => name);
			const asked = menus.flatMap(({ asks }) => asks);
			expect(names).toEqual(expect.arrayContaining([...(chat || []), ...asked]));
			for (const { asks } of menus) expect(asks.length).toBeLessThanOrEqual(5);
		}
	});
});

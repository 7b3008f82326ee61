// The three front ends through which a person reaches an action. A row has the arguments of the tool; what a person types or
// picks follows from the action's options.

import type { Action, ActionOption } from "../../../src/bot/commands/action.ts";
import type { SentMessage } from "../../../src/simulator/interactions/handle.ts";
import type { UserClient } from "../../../src/simulator/interactions/user-client.ts";
import type { Account, GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { until } from "../../support/until.ts";
import { channelNamed } from "../../support/world.ts";
import type { Args } from "../tool-rows/scene.ts";
import { type ActionScene, forPeople } from "./action-world.ts";

/** What a person wants: an action with the arguments of its tool. */
export interface Order {
	action: Action;
	tool: string;
	/** The tool's arguments, without `guild_id`. */
	args: Args;
	/** What a person types for an option, where it differs from the tool's argument. */
	typed?: Readonly<Record<string, string | number | boolean>>;
	/** Whether nobody can write in the channel that it is about: commands are then written elsewhere. */
	isElsewhere?: boolean;
}

export interface FrontEndAnswer {
	/** As a person on Discord reads it. */
	text: string;
	/** The labels of the buttons below it. */
	buttons: readonly string[];
	/** Presses one of these buttons. Returns the text that then stands there. */
	press(label: string): Promise<string>;
}

export interface FrontEnd {
	name: string;
	/** Whether cases name an MCP client. */
	client: string | null;
	/** Gives the order. With `dryRun`, only asks what would happen; resolves with undefined if the front end cannot. */
	give(scene: ActionScene, person: Account, order: Order, dryRun?: boolean): Promise<FrontEndAnswer | undefined>;
}

const noButtons = {
	buttons: [],
	press(): Promise<never> {
		throw new Error("there are no buttons");
	},
};

const mcp: FrontEnd = {
	name: "MCP tool",
	client: "test",
	async give({ world, guild }, { user }, { tool, args }, dryRun = false) {
		const client = world.mcp.as({
			id: "key:test",
			name: "test",
			access: "all",
			person: { id: user.id, name: user.username, signedIn: false },
		});
		const whole = { ...args, ...(dryRun && { dry_run: true }) };
		const { text } = await client.call(tool, { ...whole, guild_id: guild.id });
		return { text: forPeople(text), ...noButtons };
	},
};

const slash: FrontEnd = {
	name: "slash command",
	client: null,
	async give(scene, { user }, given, dryRun = false) {
		const { world } = scene;
		const { action } = given;
		const order = { ...given, args: pickable(given) };
		const asks = action.confirm?.(order.args as never) ?? false;
		if (dryRun && !asks) return undefined;
		const person = world.simulator.user(user.username);
		const handle = await runCommand(scene, person, order);
		const reply = await handle.reply();
		if (reply.failed) throw new Error(`/${action.name} was not answered`);
		const last = reply.followUps.at(-1) ?? reply;
		const answer: FrontEndAnswer = {
			text: [reply, ...reply.followUps].map((one) => one.content).join("\n"),
			buttons: last.buttons.map(({ label }) => label ?? ""),
			async press(label) {
				const before = last.content;
				await person.press(last, label);
				return until("another text", () => (last.content === before ? undefined : last.content));
			},
		};
		return finish(answer, asks && !dryRun);
	},
};

function runCommand(scene: ActionScene, person: UserClient, order: Order) {
	const channel = placeOf(order, scene);
	const values = Object.fromEntries(valuesOf(order, channel));
	return person.run(channel.id, order.action.name, values);
}

function sayCommand(scene: ActionScene, person: UserClient, order: Order) {
	const channel = placeOf(order, scene);
	return person.say(channel.id, `!m ${chatLine(order, channel)}`);
}

const chat: FrontEnd = {
	name: "chat command",
	client: null,
	async give(scene, { user }, order, dryRun = false) {
		const { action } = order;
		const asks = action.confirm?.(order.args as never) ?? false;
		if (dryRun && !asks) return undefined;
		const person = scene.world.simulator.user(user.username);
		const sent = await sayCommand(scene, person, order);
		const reply = await replyTo(scene, sent);
		const answer: FrontEndAnswer = {
			text: reply.content,
			buttons: labelsIn(reply.components),
			async press(label) {
				const before = reply.content;
				await (await person.press(reply, label)).reply();
				return until("another text", () => (reply.content === before ? undefined : reply.content));
			},
		};
		return finish(answer, asks && !dryRun);
	},
};

function replyTo({ world }: ActionScene, sent: SentMessage) {
	return until(`a reply to ${sent.content}`, () =>
		world.simulator.world.messages.in(sent.channel_id).find((one) => one.message_reference?.message_id === sent.id),
	);
}

export const frontEnds: readonly FrontEnd[] = [mcp, slash, chat];

/** Confirms a question, unless the order was refused before it was asked. */
async function finish(answer: FrontEndAnswer, isAsked: boolean) {
	if (!isAsked || answer.buttons.length === 0) return answer;
	return { text: await answer.press("Do it"), ...noButtons };
}

function labelsIn(components: unknown): string[] {
	const rows = (components ?? []) as { components?: { label?: string }[] }[];
	return rows.flatMap((row) => (row.components ?? []).flatMap(({ label }) => label ?? []));
}

/** The arguments with as many people as the options of a slash command can pick. */
function pickable({ action, args }: Order): Args {
	const places = Map.groupBy(
		action.options.filter(({ several }) => several),
		({ argument }) => argument,
	);
	return Object.fromEntries(
		Object.entries(args).map(([name, value]) => [
			name,
			Array.isArray(value) ? value.slice(0, places.get(name)?.length ?? value.length) : value,
		]),
	);
}

/** The channel in which the command is used: the one that it is about, if that is what the action takes it for. */
function placeOf({ action: { here = "" }, args, isElsewhere = false }: Order, { guild }: ActionScene): GuildChannel {
	const id = isElsewhere ? "" : String([args[here]].flat()[0]);
	return guild.channels.get(id) ?? channelNamed({ guild }, "general");
}

/** The values of the action's options, by their names, for an order in a channel. */
function valuesOf({ action, args, typed = {} }: Order, place: GuildChannel): Map<string, string | number | boolean> {
	const values = new Map<string, string | number | boolean>();
	const taken = new Map<string, number>();
	for (const { name, argument, several } of action.options) {
		const own = typed[name];
		if (own !== undefined) {
			values.set(name, own);
			continue;
		}
		// The place of the command says it.
		if (argument === action.here && [args[argument]].flat().includes(place.id)) continue;
		const given = args[argument];
		const index = taken.get(argument) ?? 0;
		taken.set(argument, index + 1);
		const value = several ? [given].flat()[index] : given;
		if (value !== undefined) values.set(name, value as string);
	}
	return values;
}

function chatLine(order: Order, place: GuildChannel): string {
	const { action } = order;
	const { name, chat } = action;
	const values = valuesOf(order, place);
	const isLast = ({ kind }: ActionOption) => kind === "reason" || kind === "text";
	const options = chat
		? chat.flatMap((name) => action.options.find((one) => one.name === name) ?? [])
		: [...action.options.filter((one) => !isLast(one) && one.kind !== "flag"), ...action.options.filter(isLast)];
	const words = options.flatMap(({ name, kind, several, argument }) => {
		const value = values.get(name);
		if (value === undefined) return [];
		const all = several ? [order.args[argument]].flat() : [value];
		if (kind === "user") return all.map((id) => `<@${id}>`);
		if (kind === "role") return all.map((id) => `<@&${id}>`);
		if (kind === "channel") return all.map((id) => `<#${id}>`);
		return [String(value)];
	});
	return [name, ...words].join(" ");
}

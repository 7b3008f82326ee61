// `gateway --grants` and `--revoke-grant`: what people have allowed clients, for the operator.

import { formatValue } from "../../lib/config.ts";
import { runs } from "../../lib/program/program.ts";
import type { Store } from "../../lib/store/store.ts";
import { onOneLine } from "../../lib/text.ts";
import { readKeyCommand } from "../keys/commands.ts";
import type { StoreValues } from "../keys/options.ts";
import { printAll, printRevoked, type StoreCommand, timeText } from "../store/command.ts";
import { type Grant, Grants } from "./grants/grants.ts";

/** Also those on keys. Throws a ConfigError that lists every issue of the command line and the environment. */
export function readStoreCommand(values: StoreValues, env: Record<string, string | undefined>): StoreCommand {
	const command = readKeyCommand(values, env);
	const { grants, "revoke-grant": id } = values;
	if (id !== undefined) return { ...command, run: (store) => endGrant(store, id) };
	return grants ? { ...command, run: printGrants } : command;
}

async function printGrants(store: Store): Promise<boolean> {
	const grants = await new Grants(store, Date.now).list();
	return printAll("grant", grants.map(describeGrant), "No grants. People create them by signing in with Discord.");
}

async function endGrant(store: Store, id: string): Promise<boolean> {
	if (await new Grants(store, Date.now).end(id)) return printRevoked(`the grant ${id}`);
	console.error(`There is no grant ${formatValue(id)}. ${runs("gateway")} --grants lists all.`);
	return false;
}

function describeGrant(grant: Grant): string {
	const { id, client, person, access, resource, createdAt, usedAt } = grant;
	const name = (text: string) => JSON.stringify(onOneLine(text, 100));
	const used = usedAt === undefined ? "never used" : `last used ${timeText(usedAt)}`;
	return `${id}: ${name(client.name)} (${client.id}) for the Discord user ${person.id} (${name(person.name)}); access ${access}; ${resource}; created ${timeText(createdAt)}, ${used}`;
}

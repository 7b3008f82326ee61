// `gateway --grants` and `--revoke-grant`: what people have allowed clients, for the operator.

import { ConfigError, formatValue } from "../../lib/config.ts";
import { runs } from "../../lib/program/program.ts";
import type { Store } from "../../lib/store/store.ts";
import { onOneLine } from "../../lib/text.ts";
import type { GrantValues } from "../keys/options.ts";
import { commandIssues, readStoreCommandSettings, type StoreCommand, timeText } from "../store/command.ts";
import { type Grant, Grants } from "./grants/grants.ts";

/** Throws a ConfigError that lists every issue of the command line or the environment. */
export function readGrantCommand(values: GrantValues, env: Record<string, string | undefined>): StoreCommand {
	const { "revoke-grant": id } = values;
	const issues = commandIssues(values);
	if (issues.length > 0) throw new ConfigError("the command line", issues);
	return {
		...readStoreCommandSettings(env, "sign-ins"),
		run: (store) => (id === undefined ? printGrants(store) : printRevoked(store, id)),
	};
}

async function printGrants(store: Store): Promise<boolean> {
	const grants = await new Grants(store, Date.now).list();
	console.log(
		grants.length === 0
			? "No grants. People create them by signing in with Discord."
			: `${grants.length} ${grants.length === 1 ? "grant" : "grants"}`,
	);
	for (const grant of grants) console.log(describeGrant(grant));
	return true;
}

async function printRevoked(store: Store, id: string): Promise<boolean> {
	if (await new Grants(store, Date.now).end(id)) {
		console.log(`Revoked the grant ${id}. It ends within a second; calls that run now are finished.`);
		return true;
	}
	console.error(`There is no grant ${formatValue(id)}. ${runs("gateway")} --grants lists all.`);
	return false;
}

function describeGrant(grant: Grant): string {
	const { id, client, person, access, resource, createdAt, usedAt } = grant;
	const name = (text: string) => JSON.stringify(onOneLine(text, 100));
	const used = usedAt === undefined ? "never used" : `last used ${timeText(usedAt)}`;
	return `${id}: ${name(client.name)} (${client.id}) for the Discord user ${person.id} (${name(person.name)}); access ${access}; ${resource}; created ${timeText(createdAt)}, ${used}`;
}

// The viewer of the console: the holder of MCP_AUTH_TOKEN, who sees everything, or a person, who sees only what belongs
// to them.

import { type Principal, rootPrincipal } from "../../lib/principal.ts";
import { consoleClient } from "../../mcp/console.ts";
import type { Session } from "./sessions.ts";

export interface Viewer {
	session: Session;
	/** May only read. Undefined for the holder of MCP_AUTH_TOKEN, who has no limits. */
	person: (Principal & { person: { id: string } }) | undefined;
	/** Principals of calls from the console. */
	reader: Principal;
	/** Of the calls with which a form is submitted. */
	writer: Principal;
}

export function viewerOf(session: Session): Viewer {
	const { person: signedIn } = session;
	const client = consoleClient;
	if (!signedIn) {
		const writer = { ...rootPrincipal, client };
		return { session, person: undefined, reader: { ...writer, access: "read" }, writer };
	}
	const person = {
		id: `console:${signedIn.id}`,
		name: client,
		client,
		person: { ...signedIn, signedIn: true },
		access: "read" as const,
	};
	return { session, person, reader: person, writer: { ...person, access: "all" } };
}

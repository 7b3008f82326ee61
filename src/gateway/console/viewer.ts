// The viewer of the console: the holder of MCP_AUTH_TOKEN, who sees everything, or a person, who sees only what belongs
// to them.

import { type Principal, rootPrincipal } from "../../lib/principal.ts";
import type { Session } from "./sessions.ts";

const clientName = "Guildhall console";

export interface Viewer {
	session: Session;
	/** May only read. Undefined for the holder of MCP_AUTH_TOKEN, who has no limits. */
	person: (Principal & { person: { id: string } }) | undefined;
	/** Principal of calls from the console: may only read. */
	reader: Principal;
}

export function viewerOf(session: Session): Viewer {
	const { person } = session;
	if (!person) return { session, person: undefined, reader: { ...rootPrincipal, client: clientName, access: "read" } };
	const principal = {
		id: `console:${person.id}`,
		name: clientName,
		client: clientName,
		person: { ...person, signedIn: true },
		access: "read" as const,
	};
	return { session, person: principal, reader: principal };
}

import * as v from "valibot";
import { Grants } from "../oauth/grants/grants.ts";
import type { KeyRoutesOptions } from "./keys.ts";
import { ConsoleError, readJson } from "./respond.ts";
import type { Viewer } from "./viewer.ts";

const chosen = v.strictObject({ id: v.pipe(v.string(), v.maxLength(100)) });

export function createGrantRoutes({ store, log, now }: Omit<KeyRoutesOptions, "instances">) {
	const grants = store && new Grants(store, now);

	return {
		async list(_: Request, { person }: Viewer) {
			if (!grants) return { grants: null, reason: "The gateway has no database: set GATEWAY_DATABASE." };
			return { grants: await grants.list(person?.person.id), reason: null };
		},
		async end(request: Request, { person }: Viewer) {
			const { id } = await readJson(request, chosen);
			if (!(await grants?.end(id, person?.person.id)))
				throw new ConsoleError("not_found", "This connection no longer exists. Reload the list.");
			log.info("ended a connection in the console", { grant: id, person: person?.person.id });
			return {};
		},
	};
}

// The game server's contract as openapi.yaml has it.

import { join } from "node:path";
import * as z from "zod";

export const folder = join(import.meta.dir, "../../../src/bot/game");

type Body = { content?: { "application/json": { schema: Parameters<typeof z.fromJSONSchema>[0] } } };
type Paths = Record<string, Record<string, { requestBody?: Body; responses: Record<string, Body> }>>;
const { paths } = Bun.YAML.parse(await Bun.file(join(folder, "openapi.yaml")).text()) as { paths: Paths };

/** Whether it allows this body of a request, or of a response with this status. */
export function allows(route: string, status: number | "request", body: unknown): boolean {
	const [method = "", path = ""] = route.split(" ");
	const { requestBody, responses } = paths[path]?.[method.toLowerCase()] ?? { responses: {} };
	const schema = (status === "request" ? requestBody : responses[status])?.content?.["application/json"].schema;
	return z.fromJSONSchema(schema ?? false).safeParse(body).success;
}

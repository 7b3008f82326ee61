// The documentation at /docs: files that `bun run docs` makes, and that releases contain.

import { methodNotAllowed } from "../lib/program/listen.ts";
import { build } from "../lib/program/program.ts";

const below = "/docs/";
/** Where it is without DOCS_DIR: in a release beside the executable, installed in share beside bin. */
const beside = process.execPath.replace(/[^/\\]*$/, "docs").replace(/\/bin\/docs$/, "/share/guildhall/docs");
const usual = build ? beside : `${import.meta.dir}/../../dist/docs`;
const missing = `There is no documentation here: "bun run docs" makes it, a release has it in docs, and DOCS_DIR names the folder.\n`;

/** `path`: of the request, normalized. Undefined for other paths. */
export function serveDocs(request: Request, path: string, directory = usual): Response | Promise<Response> | undefined {
	if (path === "/docs") return new Response(null, { status: 302, headers: { Location: below } });
	if (!path.startsWith(below)) return undefined;
	if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed("GET, HEAD");
	return send(directory, path.slice(below.length) || "index.html", new URL(request.url).host);
}

async function send(directory: string, name: string, host: string): Promise<Response> {
	const file = Bun.file(`${directory}/${name}`);
	if (!(await file.exists())) {
		const isSite = await Bun.file(`${directory}/index.html`).exists();
		return new Response(isSite ? "Not found" : missing, { status: 404 });
	}
	// docsify turns text into markup. So that it could do nothing with the console, it reaches only /docs, and windows that it
	// opens have another opener policy.
	const policy = `default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src ${host}${below}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
	const headers = {
		"Content-Security-Policy": policy,
		"X-Content-Type-Options": "nosniff",
		"Cache-Control": "no-cache",
	};
	return new Response(file, { headers });
}

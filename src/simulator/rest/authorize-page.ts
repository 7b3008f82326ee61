// The page on which a person authorizes an application: Discord's https://discord.com/oauth2/authorize. It has a choice of
// people in place of passwords. Scripts send what its form would send: `user_id`, and `authorize` with `true` or `false`.
// https://docs.discord.com/developers/topics/oauth2#authorization-code-grant

import { random } from "../world/accounts/authorizations.ts";
import type { User } from "../world/state/entities.ts";
import type { World } from "../world/world.ts";
import { ApiError, apiError } from "./errors.ts";

const pageHeaders = {
	"content-type": "text/html; charset=utf-8",
	"cache-control": "no-store",
	"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
};

interface Query {
	client: User;
	redirectUri: string;
	state: string | null;
}

/** Discord redirects it to the page: https://docs.discord.food/topics/oauth2#preview-oauth2-authorization */
export function isRedirectedToPage({ method, headers }: Request, { pathname }: URL): boolean {
	return method === "GET" && /^\/api(\/v\d+)?\/oauth2\/authorize$/.test(pathname) && !headers.has("authorization");
}

/** GET returns the page; POST, which its form sends, redirects the person to the application. */
export async function serveAuthorizePage(world: World, request: Request, url: URL): Promise<Response> {
	try {
		const query = readQuery(world, url.searchParams);
		if (request.method === "GET" || request.method === "HEAD")
			return new Response(renderForm(world, query), { headers: pageHeaders });
		if (request.method !== "POST") throw refusal(405, "Method Not Allowed");
		return redirect(world, query, new URLSearchParams(await request.text()));
	} catch (error) {
		// Shown instead of redirecting, for example because the request has no redirect URI of the application.
		if (!(error instanceof ApiError)) throw error;
		const page = render("Error", `<p>${Bun.escapeHTML(String(error.body.message))}</p>`);
		return new Response(page, { status: error.status, headers: pageHeaders });
	}
}

/** A guess (oauth2-error-page): Discord shows an error page with these statuses, also for other response types. */
function readQuery(world: World, params: URLSearchParams): Query {
	const clientId = params.get("client_id") ?? "";
	const settings = world.authorizations.settings(clientId);
	const client = world.users.get(clientId);
	if (!settings || !client) throw apiError("UnknownApplication");
	const responseType = params.get("response_type");
	if (responseType === "token") throw refusal(501, "The simulator has no implicit grant.");
	if (responseType !== "code") throw refusal(400, "Unsupported response_type");
	if (params.get("scope") !== "identify") throw refusal(501, "The simulator has no scope but identify.");
	// By default the first one: https://docs.discord.food/topics/oauth2#authorization-url-structure
	const [first] = settings.redirectUris;
	const redirectUri = params.get("redirect_uri") ?? first;
	if (redirectUri === undefined || !settings.redirectUris.includes(redirectUri))
		throw refusal(400, "Invalid OAuth2 redirect_uri");
	return { client, redirectUri, state: params.get("state") };
}

function redirect(world: World, { client, redirectUri, state }: Query, form: URLSearchParams): Response {
	const target = new URL(redirectUri);
	const answer = form.get("authorize");
	const user = world.users.get(form.get("user_id") ?? "");
	if (answer === "false") {
		// https://github.com/nhost/hasura-auth/issues/125
		target.searchParams.set("error", "access_denied");
		target.searchParams.set("error_description", "The resource owner or authorization server denied the request");
	} else if (answer !== "true") throw refusal(400, 'authorize must be "true" or "false".');
	else if (!user || user.bot) throw refusal(400, "user_id is not the id of a person.");
	else {
		const code = random();
		world.authorizations.codes.set(code, { clientId: client.id, user, redirectUri });
		target.searchParams.set("code", code);
	}
	if (state !== null) target.searchParams.set("state", state);
	return new Response(null, { status: 303, headers: { location: target.href, "cache-control": "no-store" } });
}

function renderForm(world: World, { client, redirectUri }: Query) {
	const choices = world.users.people.map(
		({ user: { id, username, global_name } }, index) =>
			`<label><input type="radio" name="user_id" value="${id}"${index === 0 ? " checked" : ""}> ${Bun.escapeHTML(global_name ?? username)} <small>@${Bun.escapeHTML(username)}</small></label>`,
	);
	const name = Bun.escapeHTML(client.username);
	return render(
		`Authorize ${name}`,
		`<p>The application <b>${name}</b> asks for: <code>identify</code></p>
<form method="post">
<fieldset><legend>You are</legend>
${choices.join("\n")}
</fieldset>
<button name="authorize" value="true">Authorize</button>
<button name="authorize" value="false">Cancel</button>
</form>
<p><small>Then you return to ${Bun.escapeHTML(new URL(redirectUri).origin)}</small></p>`,
	);
}

function refusal(status: number, message: string): ApiError {
	return new ApiError(status, { message });
}

function render(title: string, body: string): string {
	return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · simulated Discord</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 28rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark }
label { display: block }
button { font: inherit; margin: 1rem .5rem 0 0 }
</style>
<main>
<h1>${title}</h1>
<p>This is the simulated Discord: choose who you are. There are no passwords.</p>
${body}
</main>
</html>
`;
}

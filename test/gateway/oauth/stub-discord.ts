// Discord's OAuth2 as far as a sign-in needs it.

export type StubDiscord = ReturnType<typeof startStubDiscord>;

export interface StubUser {
	id: string;
	name: string;
	username: string;
}

export function startStubDiscord(user: StubUser) {
	const clientId = "300000000000000001";
	const clientSecret = "the-secret-of-the-application";
	/** Who comes back from Discord. */
	const state = { user, codes: new Set<string>(), tokens: new Set<string>() };
	const requests: { path: string; form: URLSearchParams; auth: string }[] = [];
	/** Responses by path, in place of the usual ones. */
	const on: Record<string, () => Response | Promise<Response>> = {};
	let codes = 0;
	const revoked = Promise.withResolvers<string>();
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		async fetch(request) {
			const path = new URL(request.url).pathname;
			const form = new URLSearchParams(await request.text());
			const auth = request.headers.get("authorization") ?? "";
			requests.push({ path, form, auth });
			const behaviour = on[path];
			if (behaviour) return behaviour();
			const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
			switch (path) {
				case "/api/oauth2/token": {
					if (auth !== basic) return fail("invalid_client", 401);
					if (!state.codes.delete(form.get("code") ?? "")) return fail("invalid_grant");
					const token = `discord-token-${requests.length}`;
					state.tokens.add(token);
					return Response.json({ access_token: token, token_type: "Bearer" });
				}
				case "/api/v10/users/@me": {
					const token = auth.replace("Bearer ", "");
					if (!state.tokens.has(token)) return fail("401", 401);
					const { id, name, username } = state.user;
					return Response.json({ id, username, global_name: name });
				}
				case "/api/oauth2/token/revoke": {
					if (auth !== basic) return fail("invalid_client", 401);
					const token = form.get("token") ?? "";
					state.tokens.delete(token);
					revoked.resolve(token);
					return Response.json({});
				}
				default:
					return fail("not_found", 404);
			}
		},
	});
	return {
		clientId,
		clientSecret,
		apiUrl: `${server.url.origin}/api`,
		state,
		requests,
		on,
		/** Resolves with the first token that is revoked. */
		revoked: revoked.promise,
		/** What Discord does when a person authorizes at `url`: returns where it sends them. */
		signIn(url: string): string {
			const { searchParams } = new URL(url);
			const code = `discord-code-${++codes}`;
			state.codes.add(code);
			const target = new URL(searchParams.get("redirect_uri") ?? "");
			target.searchParams.set("code", code);
			target.searchParams.set("state", searchParams.get("state") ?? "");
			return target.href;
		},
		stop: () => server.stop(true),
	};
}

function fail(error: string, status = 400): Response {
	return Response.json({ error }, { status });
}

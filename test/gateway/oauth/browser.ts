// A browser without scripts: it keeps cookies by origin, and follows no redirect by itself.

export class Browser {
	readonly #cookies = new Map<string, Map<string, string>>();
	/** The last response. */
	last: Response | undefined;

	async open(url: string, init: RequestInit = {}): Promise<Response> {
		const { origin } = new URL(url);
		const jar = this.#cookies.get(origin) ?? new Map<string, string>();
		this.#cookies.set(origin, jar);
		const cookie = [...jar].map(([name, value]) => `${name}=${value}`);
		const headers = new Headers(init.headers);
		if (cookie.length > 0) headers.set("Cookie", cookie.join("; "));
		const response = await fetch(url, { ...init, headers, redirect: "manual" });
		for (const line of response.headers.getSetCookie()) {
			const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
			jar.set(name, value);
		}
		this.last = response;
		return response;
	}

	/** Opens a page and returns its HTML. */
	async get(url: string): Promise<string> {
		return (await this.open(url)).text();
	}

	/** Opens an address that redirects, and returns where it leads. */
	async redirected(url: string): Promise<string> {
		return locationOf(await this.open(url), url);
	}

	/** Submits a form that redirects, and returns where it leads. */
	async submitted(url: string, form: URLSearchParams, origin?: string): Promise<string> {
		return locationOf(await this.submit(url, form, origin), url);
	}

	/** Submits a form. Browsers send the origin "null" for pages with the Referrer-Policy no-referrer. */
	submit(url: string, form: URLSearchParams, origin = "null"): Promise<Response> {
		const headers = { Origin: origin, "Sec-Fetch-Site": "same-origin" };
		return this.open(url, { method: "POST", body: form, headers });
	}
}

async function locationOf(response: Response, url: string): Promise<string> {
	const location = response.headers.get("location");
	if (location !== null) return new URL(location, url).href;
	throw new Error(`no redirect: ${response.status} ${await response.text()}`);
}

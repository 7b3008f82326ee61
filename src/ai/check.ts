// Checks of AI providers for `--check`: one short request to each verifies key, model and account balance.

import { type Check, CheckFailed, type Found } from "../lib/program/check.ts";
import { complete } from "./completion.ts";
import { AiError } from "./error.ts";
import { type AiProvider, type ApiKeys, chooseProviders } from "./providers.ts";
import type { AiSettings } from "./settings.ts";

/** A short test request for each provider verifies URL, model, key and account balance. */
export function providerChecks(settings: AiSettings, apiKeys: ApiKeys, timeoutMs = 15_000): Check[] {
	return chooseProviders(settings, apiKeys).map((provider) => ({
		title: `AI provider ${provider.name}`,
		run: () => tryProvider({ ...provider, timeoutMs, idleTimeoutMs: timeoutMs }),
	}));
}

async function tryProvider(provider: AiProvider): Promise<Found> {
	const messages = [{ role: "user" as const, content: "Say hello, in one word." }];
	try {
		// The first event is enough. It is the end if the model used all tokens for thinking.
		for await (const _ of complete(provider, { messages, maxTokens: 16 })) break;
		return `${provider.model} answered`;
	} catch (error) {
		if (!(error instanceof AiError)) throw error;
		return explain(error, provider);
	}
}

function explain({ kind, details }: AiError, provider: AiProvider): Found {
	const { name, model, url, keyVariable } = provider;
	const reason = details.detail ?? kind;
	const section = `ai.providers.${name}`;
	switch (kind) {
		case "limited":
			return { warning: `the AI provider limits the rate of requests at the moment (${reason})` };
		case "key":
			throw new CheckFailed(
				keyVariable === undefined
					? `the AI provider requires an API key (${reason})`
					: `the AI provider does not accept the API key in ${keyVariable} (${reason})`,
				keyVariable === undefined
					? `Set ${section}.api_key_env to the name of the variable that holds the API key.`
					: `Does the account have money left? If so, get a new key, and put it into .env as ${keyVariable}.`,
			);
		case "rejected":
			throw new CheckFailed(
				`the AI provider rejected a request to the model ${model} (${reason})`,
				`If the provider no longer has this model, set ${section}.model to another one.`,
			);
		case "nonsense":
			throw new CheckFailed(
				`the AI provider's response is not OpenAI-compatible: ${reason}`,
				`${section}.url has to be the URL before /chat/completions; it is ${url}.`,
			);
		default:
			throw new CheckFailed(`a request to the AI provider failed: ${reason}`, `Can this machine reach ${url}?`);
	}
}

// Steps that edit what new members see: the welcome screen and onboarding. Only communities have them.

import type { Onboarding } from "../format/document.ts";
import { onboarding, welcomeScreen } from "../format/document-schema.ts";
import { defaultsOf } from "../format/fields.ts";
import { channelsWithCategories } from "../format/references.ts";
import { isCommunity, onlyCommunities } from "./settings-steps.ts";
import type { StepList } from "./step-list.ts";
import { onboardingBody, welcomeScreenBody } from "./to-api.ts";

/** With onboarding enabled. https://discord.com/developers/docs/resources/guild#modify-guild-onboarding */
const minDefaultChannels = 7;

/** Without Community: welcome screen and onboarding cannot be read and are the defaults. */
const hasNone = ({ current }: StepList) => !current.settings?.community;

export function addWelcomeScreen(list: StepList): void {
	const { wanted, guildPath } = list;
	const current = list.current.welcome_screen ?? (hasNone(list) ? defaultsOf(welcomeScreen) : undefined);
	if (!wanted.welcome_screen || !current) return;
	const { changes, values, isChanged } = list.compare(current, wanted.welcome_screen);
	if (!isChanged) return;
	if (!isCommunity(list)) {
		list.refuse("welcome_screen", onlyCommunities);
		return;
	}
	list.add("rest", {
		action: "edit",
		kind: "welcome_screen",
		name: "welcome screen",
		targetId: "welcome_screen",
		changes,
		path: `${guildPath}/welcome-screen`,
		body: welcomeScreenBody(values),
	});
}

/**
 * Discord refuses to hide a channel of onboarding, and to add a hidden one. So a first step removes channels before
 * they are hidden; a later one changes the rest when all channels exist.
 */
export function addOnboarding(list: StepList): void {
	const current = list.current.onboarding ?? (hasNone(list) ? defaultsOf(onboarding) : undefined);
	const given = list.wanted.onboarding;
	if (!given || !current) return;
	const wanted = { ...current, ...given };
	const listed = new Set(channelsWithCategories(list.wanted).map(({ channel }) => channel.id));
	const mayBeHidden = (id: string) => list.wanted.everyone !== undefined || listed.has(id);
	const leaving = channelsOf(current).filter((id) => mayBeHidden(id) && !channelsOf(wanted).includes(id));
	if (leaving.length === 0) {
		addEdit(list, "onboarding", current, given);
		return;
	}
	const before = without(current, new Set(leaving));
	addEdit(list, "hidden channels", current, before);
	addEdit(list, "onboarding", before, wanted);
}

function addEdit(
	list: StepList,
	target: "onboarding" | "hidden channels",
	before: Onboarding,
	after: Onboarding,
): void {
	const { changes, isChanged } = list.compare(before, after);
	if (!isChanged) return;
	const given = new Set(rolesOf(before));
	list.add(target === "onboarding" ? "rest" : "onboarding without hidden channels", {
		action: "edit",
		kind: "onboarding",
		name: "onboarding",
		targetId: target,
		changes,
		guard: { roleIds: rolesOf(after).filter((id) => !given.has(id)) },
		method: "PUT",
		path: `${list.guildPath}/onboarding`,
		body: onboardingBody({ ...before, ...after }, list.state),
	});
}

function rolesOf({ prompts = [] }: Onboarding): string[] {
	return [...new Set(prompts.flatMap(({ options }) => options.flatMap(({ roles = [] }) => roles)))];
}

function channelsOf({ default_channels, prompts }: Onboarding): string[] {
	const options = prompts?.flatMap((prompt) => prompt.options) ?? [];
	return [...(default_channels ?? []), ...options.flatMap(({ channels }) => channels ?? [])];
}

function without(onboarding: Onboarding, channels: ReadonlySet<string>): Onboarding {
	const isLeft = (id: string) => !channels.has(id);
	const left = onboarding.default_channels?.filter(isLeft) ?? [];
	return {
		...onboarding,
		enabled: onboarding.enabled && left.length >= minDefaultChannels,
		default_channels: left,
		prompts: onboarding.prompts
			?.map((prompt) => ({
				...prompt,
				options: prompt.options
					.map((option) => ({ ...option, channels: option.channels?.filter(isLeft) }))
					.filter(({ roles, channels }) => roles?.length || channels?.length),
			}))
			.filter(({ options }) => options.length > 0),
	};
}

// Steps that edit what new members see: the welcome screen and onboarding. Only communities have them.

import type { StepList } from "./step-list.ts";
import { onboardingBody, welcomeScreenBody } from "./to-api.ts";

export function addWelcomeScreen(list: StepList): void {
	const { wanted, current, guildPath } = list;
	if (!wanted.welcome_screen || !current.welcome_screen) return;
	const { changes, values, isChanged } = list.compare(
		current.welcome_screen,
		wanted.welcome_screen,
	);
	if (!isChanged) return;
	list.add("rest", {
		action: "edit",
		kind: "welcome_screen",
		name: "welcome screen",
		targetId: "welcome_screen",
		changes,
		method: "PATCH",
		path: () => `${guildPath}/welcome-screen`,
		body: welcomeScreenBody(values),
	});
}

export function addOnboarding(list: StepList): void {
	const { wanted, current, guildPath, state } = list;
	if (!wanted.onboarding || !current.onboarding) return;
	const { changes, isChanged } = list.compare(
		current.onboarding,
		wanted.onboarding,
	);
	if (!isChanged) return;
	list.add("rest", {
		action: "edit",
		kind: "onboarding",
		name: "onboarding",
		targetId: "onboarding",
		changes,
		method: "PUT",
		path: () => `${guildPath}/onboarding`,
		body: onboardingBody(
			{ ...current.onboarding, ...wanted.onboarding },
			state.onboarding,
		),
	});
}

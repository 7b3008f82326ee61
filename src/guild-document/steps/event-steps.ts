// Steps that create, edit and delete scheduled events.

import { defaultsOf } from "../format/defaults.ts";
import { byId, type StepList } from "./step-list.ts";
import { scheduledEventBody } from "./to-api.ts";

export function addEvents(list: StepList): void {
	const { wanted, current, guildPath } = list;
	if (!wanted.events || !current.events) return;
	const before = byId(current.events);
	const path = `${guildPath}/scheduled-events` as const;
	for (const event of wanted.events) {
		const { id = "", name } = event;
		const old = before.get(id);
		const { values, changes, isChanged } = list.compare(old, event, defaultsOf.event);
		const common = {
			kind: "event",
			changes,
			guard: { channelKind: event.kind },
		} as const;
		if (old) {
			if (isChanged)
				list.add("rest", {
					...common,
					action: "edit",
					name: old.name,
					targetId: id,
					method: "PATCH",
					path: () => `${path}/${id}`,
					// Discord requires the place and the end of an event together with a new kind.
					body: scheduledEventBody(values.kind ? { ...old, ...event } : values, false),
				});
		} else if (!list.isGone(event, "event"))
			list.add("rest", {
				...common,
				action: "create",
				name,
				placeholder: id,
				method: "POST",
				path: () => path,
				body: scheduledEventBody(event, true),
			});
	}
	list.removeUnlisted("event", current.events, wanted.events, (id) => `${path}/${id}`);
}

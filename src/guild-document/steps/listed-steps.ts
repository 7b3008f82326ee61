// Steps that create, edit and delete roles, emoji, AutoMod rules, scheduled events and webhooks.

import * as schema from "../format/document-schema.ts";
import { defaultsOf } from "../format/fields.ts";
import { ruleFieldsOf } from "../names/automod-rule.ts";
import { orderRoles } from "./order.ts";
import { byId, type StepList } from "./step-list.ts";
import { automodBody, roleBody, scheduledEventBody } from "./to-api.ts";
import { isPictureHash } from "./values.ts";

export function addRoles(list: StepList): void {
	if ((list.wanted.roles?.length ?? 0) > 1) orderRoles(list);
	list.addAll("roles", {
		kind: "role",
		phase: "roles",
		path: `${list.guildPath}/roles`,
		defaults: defaultsOf(schema.role),
		// Discord names and pictures the role of an integration, and only Discord deletes it.
		ignored: (old) => (old?.managed ? ["name", "icon"] : []),
		isDeletable: ({ managed }) => !managed,
		step: ({ id = "" }, values, old) => {
			const { icon: hash = "" } = values;
			return {
				guard: { roleIds: [id] },
				picture: isPictureHash(hash) ? { field: "icon", hash } : undefined,
				// Without permissions, Discord gives a new role those of @everyone.
				body: roleBody(old ? values : { permissions: [], ...values }),
			};
		},
	});
}

export function addEmojis(list: StepList): void {
	list.addAll("emojis", {
		kind: "emoji",
		phase: "emojis",
		path: `${list.guildPath}/emojis`,
		defaults: defaultsOf(schema.emoji),
		ignored: () => ["picture", "animated"],
		step: ({ name, roles = [], picture: hash = "" }, values, old) => {
			if (old) {
				if (hash && old.picture && hash !== old.picture)
					list.refuse(
						`emoji ${name}`,
						"its picture in the document differs from that in the guild, and Discord cannot change the picture of an emoji; delete the emoji in the guild so that it is created with the picture of the document",
					);
				return { body: { name: values.name, roles: values.roles } };
			}
			if (hash) return { body: { name, roles }, picture: { field: "image", hash } };
			list.refuse(`emoji ${name}`, "the document does not say which picture it has");
			return undefined;
		},
	});
}

export function addRules(list: StepList): void {
	const raw = byId(list.state.automod);
	list.addAll("automod", {
		kind: "automod",
		what: "AutoMod rule",
		phase: "rest",
		path: `${list.guildPath}/auto-moderation/rules`,
		defaults: defaultsOf(schema.automod),
		step: (rule, values) => {
			const known = raw.get(rule.id ?? "");
			// Discord's default is off.
			const body = known
				? automodBody(values, { ...ruleFieldsOf(known), raw: known })
				: automodBody({ enabled: true, ...rule });
			return { body };
		},
	});
}

export function addEvents(list: StepList): void {
	list.addAll("events", {
		kind: "event",
		phase: "rest",
		path: `${list.guildPath}/scheduled-events`,
		defaults: defaultsOf(schema.scheduledEvent),
		step: (event, values, old) => ({
			// Discord requires the place and the end of an event together with a new kind.
			body: scheduledEventBody(old && !values.entity_type ? values : { ...old, ...event }, !old),
		}),
	});
}

/** Their tokens are never read or written. */
export function addWebhooks(list: StepList): void {
	list.addAll("webhooks", {
		kind: "webhook",
		phase: "rest",
		path: "/webhooks",
		step: ({ name, channel }, values, old) => {
			if (name.trim() === "" && old?.name !== name) {
				list.refuse("webhook", "its name is blank, and Discord refuses that");
				return undefined;
			}
			if (old) return { body: { name: values.name, channel_id: values.channel } };
			return { path: (idOf) => `/channels/${idOf(channel)}/webhooks`, body: { name }, needs: [channel] };
		},
	});
}

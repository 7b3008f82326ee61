// The uploaded files of a request: attachments of messages.
// https://docs.discord.com/developers/reference#uploading-files

import type { Attachment, Channel } from "../world/state/entities.ts";
import { formError } from "./errors.ts";
import { list, object, type Read, text, unchecked } from "./fields/fields.ts";
import type { Call } from "./route.ts";

const maxFiles = 10;

/** Uploaded files, and the attachments that an edited message keeps. */
export const describedFiles = list(
	object({ id: unchecked, filename: text(0, 1024), description: text(0, 1024) }),
	0,
	maxFiles,
);

type Described = Read<typeof describedFiles> & object;

export function storeAttachments(call: Call, channel: Channel, described: Described): Attachment[] {
	if (call.files.size > maxFiles)
		throw formError("BASE_TYPE_MAX_LENGTH", `Must be ${maxFiles} or fewer in length.`, "attachments");
	return Array.from(call.files, ([part, file]) => {
		// The parts of the form are named files[0], files[1] and so on. The field `attachments` refers to them by these
		// numbers.
		const number = /^files\[(\d+)\]$/.exec(part)?.[1];
		const known = described.find(({ id }) => String(id) === number);
		const given = file instanceof File ? file.name : part;
		const filename = (known?.filename ?? given).replace(/[^\w.-]+/g, "_");
		const id = call.world.state.newId();
		const url = call.storeFile(`${channel.id}/${id}/${filename}`, file);
		return {
			id,
			filename,
			...(known?.description && { description: known.description }),
			content_type: file.type || "application/octet-stream",
			size: file.size,
			url,
			proxy_url: url,
		};
	});
}

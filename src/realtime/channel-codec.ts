/** What channels carry: checked by the schemas of their definitions, and encoded as in calls (`src/http/wire.ts`). */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ChannelDefinition } from "../contract/channel-definition.ts";
import { readResult } from "../contract/middleware.ts";
import { decodeCall } from "../http/wire.ts";
import { toParts } from "../kit/rich-values.ts";
import { SvcError } from "../kit/svc-error.ts";
import { channelLimits } from "./channel-limits.ts";
import { exactText } from "./key.ts";

/** An encoded value. */
export interface Body {
  json: unknown;
  meta?: unknown;
}

/** A channel of a definition. Equal inputs have equal topics, however they were written. */
export interface Place {
  definition: ChannelDefinition;
  topic: string;
  input: unknown;
}

/** @param input as a client sends it, decoded @throws SvcError VALIDATION_FAILED */
export function topicOf(definition: ChannelDefinition, input: unknown): Place {
  const checked = check(definition.input, input, "The channel's input");
  return { definition, input: checked, topic: `${definition.name}::${exactText(checked)}` };
}

/** @throws SvcError VALIDATION_FAILED, PAYLOAD_TOO_LARGE */
export const encodeMessage = (schema: StandardSchemaV1, data: unknown): Body =>
  encode(check(schema, data, "The message"), channelLimits.message, "A message");

/** What a member shows. @throws as `encodeMessage` */
export const encodeState = (schema: StandardSchemaV1, state: unknown): Body =>
  encode(check(schema, state, "What you show"), channelLimits.state, "What a member shows");

/** A value of a frame. @throws SvcError BAD_REQUEST */
export const decode = (given: unknown): unknown => decodeCall({ name: "", args: given }).args;

function encode(value: unknown, most: number, what: string): Body {
  const { json, meta } = toParts(what, value, "Upload it, and send its id.");
  const body = { json, ...(meta.length > 0 && { meta }) };
  const bytes = Buffer.byteLength(JSON.stringify(body));
  if (bytes <= most) return body;
  throw new SvcError("PAYLOAD_TOO_LARGE", `${what} in a channel has at most ${most} bytes; this has ${bytes}.`, {
    hint: "Store it in a table, and send its id.",
  });
}

function check(schema: StandardSchemaV1, value: unknown, what: string): unknown {
  const run = schema["~standard"].validate(value);
  if (run instanceof Promise) throw new Error(`${what} has a schema that is asynchronous. Channels check at once.`);
  const result = readResult(run);
  if (result.issues) throw new SvcError("VALIDATION_FAILED", `${what} is not valid.`, { issues: result.issues });
  return result.value;
}

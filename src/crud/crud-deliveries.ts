/**
 * The option `deliveries` of `createCrud`: the check of the table, the arguments and the schemas of `<prefix>.deliveries` and
 * `<prefix>.retryDelivery`.
 * Next hop: `sql/webhooks/find_deliveries.sql`, `sql/webhooks/retry_delivery.sql`.
 */
import type { CrudDefinition } from "../contract/crud.ts";
import type { WebhookDefinition } from "../contract/webhook.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { type Input, own } from "../kit/input-checks.ts";
import { exactly, type JsonSchema, objectOf } from "../kit/json-schema.ts";
import type { Issue } from "../kit/svc-error.ts";
import { quotedName } from "../kit/table-config.ts";
import { isUuid } from "../kit/uuid.ts";
import { pageSchemas } from "./crud-history.ts";
import { calling, type Writing } from "./crud-text.ts";

/** @throws DefinitionError for a resource of a table that no webhook delivers to */
export function checkDeliveries(resources: readonly CrudDefinition[], webhooks: readonly WebhookDefinition[]): void {
  for (const crud of resources) {
    if (!crud.methods.includes("deliveries") && !crud.methods.includes("retryDelivery")) continue;
    const { endpoints } = webhooks.find((one) => one.endpoints?.table === quotedName(crud.schema, crud.table)) ?? {};
    if (!endpoints) {
      throw new DefinitionError(`createCrud: deliveries of "${crud.prefix}" is for no webhook.`, {
        hint: `Register a webhook with to: { endpoints: schema.${crud.table}, … }, or leave deliveries out.`,
      });
    }
    if (endpoints.key === crud.id.name) continue;
    throw new DefinitionError(`createCrud: deliveries of "${crud.prefix}" needs id as the primary key.`, {
      hint: "Deliveries name their endpoint by it. Leave deliveries out, or make id the primary key.",
    });
  }
}

/** The generated functions. */
export const deliveriesOf = (crud: CrudDefinition): Writing =>
  calling(
    crud,
    "find_deliveries",
    "stable",
    `Deliveries of webhooks to a row of ${crud.table}, newest first: {data, nextCursor}; null when the caller may not see the row. ` +
      "Takes {id, limit, cursor}.",
  );

export const retryOf = (crud: CrudDefinition): Writing =>
  calling(
    crud,
    "retry_delivery",
    "volatile",
    `Sends a delivery to a row of ${crud.table} again, if it is dead, and returns it; null when the caller may not update the row, or ` +
      "it has no such delivery. Takes {id, delivery}.",
  );

/** The SQL function's argument. @param id that the input has */
export function retryArguments(id: string | number, object: Input, issues: Issue[]): Input {
  const delivery = own(object, "delivery");
  if (typeof delivery !== "string" || !isUuid(delivery)) {
    issues.push({ path: ["delivery"], message: "must be the id of a delivery" });
  }
  return { id: String(id), delivery };
}

const time = (description: string): JsonSchema => ({ type: ["string", "null"], format: "date-time", description });
const delivery = exactly({
  id: { type: "string", format: "uuid", description: "The header webhook-id." },
  event: { type: "string", description: "The name of the webhook." },
  state: { enum: ["pending", "sent", "dead"] },
  attempts: { type: "integer" },
  createdAt: { type: "string", format: "date-time" },
  dueAt: time("When the next attempt may begin."),
  endedAt: time("Since when it is sent or dead."),
  status: { type: ["integer", "null"], description: "The HTTP status of the last answer." },
  error: { type: ["string", "null"], maxLength: 200, description: "Why the last attempt failed." },
});

/** The arguments and the result in JSON Schema. */
export const deliveriesSchemas = (crud: CrudDefinition, id: JsonSchema) => pageSchemas(crud, id, delivery);

export const retrySchemas = (id: JsonSchema): [JsonSchema, JsonSchema] => [
  objectOf({ id, delivery: { type: "string", format: "uuid" } }),
  delivery,
];

/**
 * `svc webhooks`: lists the webhooks and what they deliver, shows a delivery, and sends dead ones again.
 * Next hop: `sql/webhooks/list_webhooks.sql`, `list_deliveries.sql`, `sql/studio/act_retry_deliveries.sql`.
 */
import type pg from "pg";
import type { WebhookDefinition } from "../contract/webhook.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { isUuid } from "../kit/uuid.ts";
import { short } from "../postgres/schema-names.ts";
import { defineCommand } from "./define.ts";
import { resultOf, rowsOf, systemCommand, withoutQuotes } from "./inspect.ts";
import { choice, flag, idReader, limit, optionalWord, text, word } from "./options.ts";
import { conclude, print, printRows } from "./output.ts";
import { type Columns, details, firstLine, paint } from "./table.ts";

interface Delivery {
  id: string;
  webhook: string;
  state: keyof typeof colours;
  source: string;
  endpoint: string;
  row_key: string;
  attempts: number;
  due_at: Date;
  last_status: number | null;
  last_error: string | null;
  created_at: Date;
  ended_at: Date | null;
  body: string;
}

const colours = { dead: 31, pending: 33, sent: 32 } as const;
const states = Object.keys(colours);

const webhook = text("Only of the webhook with this name. (Default: all)");
const readId = idReader("a delivery's id", isUuid, "See `svc webhooks list`.");

/** A trigger of a webhook: one for each operation. */
interface Declared {
  relation: string;
  declared: WebhookDefinition;
  enabled: boolean;
}

const declared = systemCommand({
  description: "List webhooks: which changes of which table are told to which receiver, or run which procedure.",
  run: async (pool) => {
    const triggers = await rowsOf<Declared>(pool, "list_webhooks");
    const webhooks = new Map(triggers.map(({ declared }) => [declared.name, declared]));
    const off = new Set(triggers.filter(({ enabled }) => !enabled).map(({ declared }) => declared.name));
    const rows = [...webhooks.values()]
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ data, ...told }) => ({ ...told, enabled: !off.has(told.name) }));
    printRows(rows, {
      webhook: ({ name, enabled }) => (enabled ? name : `${name} (off)`),
      table: ({ table }) => short(withoutQuotes(table)),
      when: ({ when }) => when.join(", "),
      "of the columns": ({ columns }) => columns.join(", "),
      to: ({ env, procedure, endpoints }) =>
        procedure ? `runs ${procedure}` : (env ?? `rows of ${withoutQuotes(endpoints?.table ?? "")}`),
    });
  },
});

const list = systemCommand({
  description: "List deliveries: dead ones first, then pending, then sent, each newest first.",
  args: { state: choice(states, `Only one of: ${states.join(", ")}. (Default: all)`), webhook, limit },
  run: async (pool, { state, webhook, limit }) =>
    printRows(
      (await read(pool, state, null, webhook, limit)).map(({ body, ...told }) => told),
      columns,
    ),
});

const show = systemCommand({
  description: "Show one delivery with its body.",
  args: { id: word("The delivery's id.", readId) },
  run: async (pool, { id }) => {
    const found = await find(pool, id);
    print(found, () => describe(found));
  },
});

/** How many a call takes (sql/webhooks/retry_deliveries.sql). */
const most = 10_000;

const retry = systemCommand({
  description: "Send a dead delivery again, or all that are dead, with all attempts.",
  args: {
    id: optionalWord("The delivery's id. (Default: all that are dead)", readId),
    dead: flag("All that are dead."),
    webhook,
  },
  check: ({ id, dead }) => {
    if ((id === undefined) !== dead) {
      throw new DefinitionError("Say what to send again.", { hint: "Write the id of a delivery, or --dead for all." });
    }
  },
  run: async (pool, { id, webhook }) => {
    let retried = 0;
    for (let some = most; some === most; retried += some) {
      some = Number(await resultOf(pool, "act_retry_deliveries", id, webhook));
    }
    if (id && retried === 0) {
      const { state, webhook } = await find(pool, id);
      throw new DefinitionError(`Delivery ${id} is ${state}.`, {
        hint:
          state === "dead"
            ? `The webhook "${webhook}" is no longer declared, or runs a procedure now.`
            : "Only dead ones are sent again.",
      });
    }
    conclude({ retried }, `${retried} ${retried === 1 ? "delivery is" : "deliveries are"} due now; a worker sends.`);
  },
});

export const command = defineCommand({ subCommands: { declared, list, show, retry } });

const read = (pool: pg.Pool, ...values: (string | number | null | undefined)[]): Promise<Delivery[]> =>
  rowsOf(pool, "list_deliveries", ...values);

/** @throws DefinitionError */
async function find(pool: pg.Pool, id: string): Promise<Delivery> {
  const [found] = await read(pool, null, id, null, 1);
  if (found) return found;
  throw new DefinitionError(`There is no delivery ${id}.`, {
    hint: "Those that were sent, or are dead, are removed after limits.webhookDays.",
  });
}

const columns: Columns<Omit<Delivery, "body">> = {
  id: "id",
  state: ({ state }) => paint(state, colours[state]),
  webhook: "webhook",
  endpoint: "endpoint",
  attempts: "attempts",
  "changed at (UTC)": "created_at",
  "last error": ({ last_error }) => firstLine(last_error),
};

const describe = (one: Delivery) =>
  details({
    id: one.id,
    state: paint(one.state, colours[one.state]),
    webhook: one.webhook,
    endpoint: one.source === "env" ? one.endpoint : `${one.endpoint} of ${one.source}`,
    row: one.row_key,
    attempts: one.attempts,
    "changed at": one.created_at,
    ...(one.ended_at ? { [`${one.state} at`]: one.ended_at } : { "next attempt": one.due_at }),
    "last status": one.last_status,
    "last error": one.last_error,
    body: one.body,
  });

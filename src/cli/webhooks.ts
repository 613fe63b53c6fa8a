/**
 * `svc webhooks`: lists what webhooks deliver, shows a delivery, and sends dead ones again.
 * Next hop: `sql/webhooks/list_deliveries.sql`, `sql/studio/act_retry_deliveries.sql`.
 */
import type pg from "pg";
import { DefinitionError } from "../kit/definition-error.ts";
import { isUuid } from "../kit/uuid.ts";
import { cwdArgument } from "./command.ts";
import { defineCommand } from "./define.ts";
import { withSystem } from "./inspect.ts";
import { limitArgument, oneOf, wholeNumber } from "./options.ts";
import { conclude, print } from "./output.ts";
import { details, paint, table, time } from "./table.ts";

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

const nameArgument = {
  webhook: { type: "string", description: "Only of the webhook with this name. (Default: all)" },
} as const;

const list = defineCommand({
  description: "List deliveries: dead ones first, then pending, then sent, each newest first.",
  args: {
    ...cwdArgument,
    state: { type: "string", description: `Only one of: ${states.join(", ")}. (Default: all)` },
    ...nameArgument,
    ...limitArgument,
  },
  run: async ({ args }) => {
    const state = oneOf("state", args.state, states);
    const limit = wholeNumber("limit", args.limit);
    await withSystem(args.cwd, async (pool) => {
      const found = await read(pool, [state, null, args.webhook ?? null, limit]);
      const head = ["id", "state", "webhook", "endpoint", "attempts", "changed at (UTC)", "last error"];
      print(found, () => table(head, found.map(line)));
    });
  },
});

const show = defineCommand({
  description: "Show one delivery with its body.",
  args: { ...cwdArgument, id: { type: "positional", description: "The delivery's id.", required: true } },
  run: ({ args }) =>
    withSystem(args.cwd, async (pool) => {
      const [found] = await read(pool, [null, idOf(args.id), null, 1]);
      if (!found) throw unknownDelivery(args.id);
      print(found, () => describe(found));
    }),
});

const retry = defineCommand({
  description: "Send a dead delivery again, or all that are dead, with all attempts.",
  args: {
    ...cwdArgument,
    id: { type: "positional", description: "The delivery's id. (Default: all that are dead)", required: false },
    dead: { type: "boolean", description: "All that are dead." },
    ...nameArgument,
  },
  run: async ({ args }) => {
    if ((args.id === undefined) !== Boolean(args.dead)) {
      throw new DefinitionError("Say what to send again.", { hint: "Write the id of a delivery, or --dead for all." });
    }
    const id = args.id === undefined ? null : idOf(args.id);
    await withSystem(args.cwd, async (pool) => {
      const text = "select svc_private.act_retry_deliveries($1, $2) as retried";
      const { rows } = await pool.query<{ retried: string }>(text, [id, args.webhook ?? null]);
      const retried = Number(rows[0]?.retried ?? 0);
      if (id && retried === 0) {
        const [found] = await read(pool, [null, id, null, 1]);
        if (!found) throw unknownDelivery(id);
        throw new DefinitionError(`Delivery ${id} is ${found.state}.`, {
          hint:
            found.state === "dead"
              ? `The webhook "${found.webhook}" is no longer declared.`
              : "Only dead ones are sent again.",
        });
      }
      conclude({ retried }, `${retried} ${retried === 1 ? "delivery is" : "deliveries are"} due now; a worker sends.`);
    });
  },
});

export const command = defineCommand({ subCommands: { list, show, retry } });

async function read(pool: pg.Pool, values: (string | number | null)[]): Promise<Delivery[]> {
  const text = "select * from svc_private.list_deliveries($1, $2, $3, $4)";
  return (await pool.query<Delivery>(text, values)).rows;
}

const line = (one: Delivery): string[] => [
  one.id,
  paint(one.state, colours[one.state]),
  one.webhook,
  one.endpoint,
  String(one.attempts),
  time(one.created_at),
  (one.last_error ?? "").split("\n", 1)[0]?.slice(0, 80) ?? "",
];

function describe(one: Delivery): string {
  return details([
    ["id", one.id],
    ["state", paint(one.state, colours[one.state])],
    ["webhook", one.webhook],
    ["endpoint", one.source === "env" ? one.endpoint : `${one.endpoint} of ${one.source}`],
    ["row", one.row_key],
    ["attempts", String(one.attempts)],
    ["changed at", time(one.created_at)],
    one.ended_at ? [`${one.state} at`, time(one.ended_at)] : ["next attempt", time(one.due_at)],
    ["last status", String(one.last_status ?? "-")],
    ["last error", one.last_error ?? "-"],
    ["body", one.body],
  ]);
}

function idOf(text: string): string {
  if (isUuid(text)) return text;
  throw new DefinitionError(`"${text}" is not a delivery's id.`, { hint: "See `svc webhooks list`." });
}

const unknownDelivery = (id: string) =>
  new DefinitionError(`There is no delivery ${id}.`, {
    hint: "Those that were sent, or are dead, are removed after limits.webhookDays.",
  });

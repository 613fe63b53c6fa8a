/**
 * `webhook()`: declares which changes of a table are told to which receivers.
 * Next hop: `webhooks-sql.ts` writes it into the application's `sql/webhooks.sql`; `sender.ts` sends.
 */
import { getTableName, is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { z } from "zod";
import type { ColumnDescription } from "../contract/crud.ts";
import type { Procedure, ProcedureTypes } from "../contract/procedure.ts";
import { type Webhook, type WebhookDefinition, type WebhookEvent, webhookEvents } from "../contract/webhook.ts";
import { describeColumns } from "../crud/columns.ts";
import { wireColumn } from "../crud/crud-text.ts";
import type { Property } from "../crud/crud-types.ts";
import { isSecretName } from "../jobs/job-arguments.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { didYouMean } from "../kit/nearest.ts";
import { checkOptions, must, type ShapeOf } from "../kit/options.ts";
import { primaryKey, quotedName, tableConfig } from "../kit/table-config.ts";
import { refuseBody } from "./refuse-body.ts";

type Literal = string | number | bigint | boolean | null;

export interface WebhookOptions<T extends PgTable = PgTable, E extends PgTable = PgTable> {
  /** The `type` of its bodies. 1 to 40 letters, digits and `_ . -`. */
  name: string;
  /** The table. */
  on: T;
  /** One or several of `insert`, `update`, `delete`. */
  when: WebhookEvent | readonly WebhookEvent[];
  /** Values that the row must have. (Default: each row) */
  filter?: { readonly [K in Property<T>]?: Extract<T["$inferSelect"][K], Literal> };
  /** The columns that leave. An update of other columns alone is not told. */
  columns: readonly Property<T>[];
  /**
   * The receivers. `env` names a variable whose name ends with HOOK and which holds the URL of one; its secret is in
   * `<env>_SECRET`. `endpoints` is a table with the columns `url`, `secret` and `enabled`, whose rows with the same `owner`
   * as the changed row get it. `procedure` is an internal one of the application: it gets the body as its input, in a job of
   * the system.
   */
  to: { env: string } | { procedure: InternalProcedure } | EndpointsOptions<T, E>;
}

type InternalProcedure = Procedure<ProcedureTypes & { kind: "internal" }>;

/** Receivers that are rows. */
export interface EndpointsOptions<T extends PgTable, E extends PgTable> {
  endpoints: E;
  /** The column of both tables that says whose the row and the endpoint are; or one of each. */
  owner: (Property<T> & Property<E>) | { row: Property<T>; endpoint: Property<E> };
  /** The column of `endpoints`, an array of texts, with the names of the webhooks that an endpoint gets. (Default: all) */
  events?: Property<E>;
}

const table = z.custom<PgTable>((value) => is(value, PgTable), must("a table of the schema"));
const column = z.string(must("the name of a column"));
const someColumns = must('the columns that leave, such as ["id", "title"]');
const eventRule = must('"insert", "update" or "delete", or a list of them');
const event = z.enum(webhookEvents, eventRule);
const nameRule = must('1 to 40 letters, digits and _ . -, such as "invoice-paid"');
const envRule = must('a variable in capitals that ends with HOOK, such as "BILLING_HOOK"');
const toRule = must(
  '{ env: "BILLING_HOOK" }, { endpoints: schema.endpoints, owner: "userId" }, or { procedure } with an internal procedure',
);
const isInternal = (value: unknown) => (value as Procedure | undefined)?.["~svc"]?.procedure?.kind === "internal";

const optionsSchema = z.strictObject({
  name: z.string(nameRule).regex(/^[\w.-]{1,40}$/, nameRule),
  on: table,
  when: z
    .union([event, z.array(event, eventRule).min(1, eventRule)], eventRule)
    .transform((one) => webhookEvents.filter((known) => [one].flat().includes(known))),
  filter: z
    .record(z.string(), z.union([z.string(), z.number(), z.bigint(), z.boolean(), z.null()], must("one value")))
    .optional(),
  columns: z.array(column, someColumns).min(1, someColumns),
  to: z.union(
    [
      z.strictObject({ env: z.string(envRule).regex(/^[A-Z0-9_]*HOOK$/, envRule) }),
      z.strictObject({ procedure: z.custom<InternalProcedure>(isInternal) }),
      z.strictObject({
        endpoints: table,
        owner: z.union([column, z.strictObject({ row: column, endpoint: column })]),
        events: z.string().optional(),
      }),
    ],
    toRule,
  ),
} satisfies ShapeOf<Omit<WebhookOptions, "filter"> & { filter?: Record<string, Literal> }>);

/**
 * Tells receivers about changes of a table, signed by Standard Webhooks. The change and what is to be sent commit together;
 * a worker sends it.
 *
 * @throws DefinitionError for a column that does not exist, for tables that lack what it needs, and for a procedure whose input never
 *   takes the body
 * @example
 * webhook({ name: "invoice-paid", on: schema.invoices, when: "update", filter: { status: "paid" },
 *   columns: ["id", "amount"], to: { env: "BILLING_HOOK" } })
 */
export function webhook<T extends PgTable, E extends PgTable = PgTable>(options: WebhookOptions<T, E>): Webhook {
  const given = checkOptions("webhook", optionsSchema, options);
  const { name, on, when, filter = {}, columns, to } = given;
  const where = `The webhook "${name}"`;
  const known = describeColumns(on);
  const chosen = columns.map((property) => find(where, on, known, property));
  if ("procedure" in to) {
    for (const one of chosen) requireJobColumn(where, one);
    refuseBody(where, to.procedure["~svc"].procedure, { name, when, columns: chosen });
  }
  const definition: WebhookDefinition = {
    name,
    table: quoted(on),
    key: keyOf(where, on),
    columns: chosen.map((one) => one.name),
    data: chosen.map(wireColumn).join(", "),
    when,
    filter: Object.fromEntries(
      Object.entries(filter).map(([property, value]) => {
        const one = find(where, on, known, property);
        if (one.values?.length && value !== null && !one.values.includes(String(value))) {
          throw new DefinitionError(`${where}: ${property} is never ${JSON.stringify(String(value))}.`, {
            hint: `It has the values ${one.values.join(", ")}.`,
          });
        }
        return [one.name, value === null ? null : String(value)];
      }),
    ),
    ...("env" in to && { env: to.env }),
    ...("endpoints" in to && endpointsOf(where, on, known, to)),
  };
  return { "~svc": { webhook: definition, procedure: "procedure" in to ? to.procedure["~svc"].procedure : undefined } };
}

/** What a job may have among its arguments (`src/jobs/job-arguments.ts`). @throws DefinitionError */
function requireJobColumn(where: string, { property, name, kind, type }: ColumnDescription): void {
  if (kind === "text" && (isSecretName(property) || isSecretName(name))) {
    throw new DefinitionError(`${where}: ${property} has the name of a secret, and arguments of jobs are stored.`, {
      hint: "Leave it out of columns, and read it when the procedure runs.",
    });
  }
  if (/^json\b/.test(type)) {
    throw new DefinitionError(
      `${where}: ${property} is json, whose texts may have characters that a job cannot have.`,
      { hint: "Make the column jsonb, or leave it out of columns and read it when the procedure runs." },
    );
  }
}

type Given = Extract<z.output<typeof optionsSchema>["to"], { endpoints: unknown }>;

function endpointsOf(where: string, on: PgTable, known: ColumnDescription[], { endpoints, owner, events }: Given) {
  const columns = describeColumns(endpoints);
  const name = getTableName(endpoints);
  for (const [needed, type] of Object.entries(neededTypes)) {
    if (columns.some((one) => one.name === needed && one.kind === type && !one.isArray)) continue;
    throw new DefinitionError(`${where}: ${name} needs a column "${needed}".`, {
      hint: `Add ${type}("${needed}").notNull() to it. Its endpoints have the columns url, secret and enabled.`,
    });
  }
  const key = keyOf(where, endpoints);
  if (key.length !== 1) {
    throw new DefinitionError(`${where}: ${name} needs a primary key of one column.`, {
      hint: 'Add one, for example uuid("id").primaryKey().defaultRandom().',
    });
  }
  const [row, endpoint] = typeof owner === "string" ? [owner, owner] : [owner.row, owner.endpoint];
  const told = events === undefined ? undefined : find(where, endpoints, columns, events);
  if (told && !(told.isArray && told.kind === "text")) {
    throw new DefinitionError(`${where}: ${name}.${events} is not an array of texts.`, {
      hint: `Make it text("${told.name}").array(), with the names of the webhooks that the endpoint gets.`,
    });
  }
  return {
    owner: find(where, on, known, row).name,
    endpoints: {
      table: quoted(endpoints),
      key: key[0] as string,
      owner: find(where, endpoints, columns, endpoint).name,
      ...(told && { events: told.name }),
    },
  };
}

const neededTypes = { url: "text", secret: "text", enabled: "boolean" };

function find(where: string, table: PgTable, columns: readonly ColumnDescription[], property: string) {
  const found = columns.find((one) => one.property === property);
  if (found) return found;
  throw new DefinitionError(`${where}: ${getTableName(table)} has no column "${property}".`, {
    hint: didYouMean(
      property,
      columns.map((one) => one.property),
    ),
  });
}

function keyOf(where: string, table: PgTable): string[] {
  const keys = primaryKey(table);
  if (keys.length > 0) return keys.map(({ name }) => name);
  throw new DefinitionError(
    `${where}: ${getTableName(table)} has no primary key, by which its deliveries keep their order.`,
    { hint: 'Add one, for example uuid("id").primaryKey().defaultRandom().' },
  );
}

function quoted(table: PgTable): string {
  const { schema = "public" } = tableConfig(table);
  return quotedName(schema, getTableName(table));
}

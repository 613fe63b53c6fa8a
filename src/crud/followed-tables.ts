/**
 * The tables whose changes realtime reads from the write-ahead log: those of the schema, those that a query names by
 * `.follows()`, and the platform's with documents and files.
 * Next hop: `realtime-sql.ts` publishes them, `src/realtime/transaction-events.ts` tells their changes.
 */
import { is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import type { Api } from "../contract/api.ts";
import { primaryKey, tableConfig } from "../kit/table-config.ts";
import { organizationMembers } from "./organization-tables.ts";
import { ownerColumns, type TeamScope, teamScope } from "./rls.ts";

export interface FollowedTable {
  schema: string;
  name: string;
  /** The columns with the ids of those who read a row, if nobody else does. */
  owners: readonly string[];
  /** If rows are shown to the members of their team alone. */
  team: TeamScope | null;
  /** Those among the columns of owners or team that are never null. */
  required: readonly string[];
  /** Columns that identify a changed row in the log; empty for the primary key, "full" for all columns. */
  identity: string[] | "full";
  /** If policies of the application may show rows to others: a new row is told to its owners, any other change to everybody. */
  isShared?: boolean;
}

const byKey = { schema: "svc", team: null, required: [], identity: [] };

/**
 * What `ctx.rag`, `ctx.grounding` and `ctx.storage` read. A file is found by its id. So others hear of its changes alone: uploads are
 * frequent, and no page of others shows one before a row of the application names it.
 */
const ofPlatform: readonly FollowedTable[] = [
  { ...byKey, name: "rag_sources", owners: [] },
  { ...byKey, name: "storage_objects", owners: ["user_id"], isShared: true },
];

/** As PostgreSQL's catalog names it, `schema.name`. */
export const tableName = ({ schema, name }: Pick<FollowedTable, "schema" | "name">) => `${schema}.${name}`;

/** The same of a Drizzle table. */
export const nameOfTable = (table: PgTable): string => {
  const { schema = "public", name } = tableConfig(table);
  return tableName({ schema, name });
};

/**
 * A table all of whose `createCrud` say `realtime: false` is left out, unless a query names it.
 *
 * @param schema the exports of the application's schema files
 */
export function followedTables(api: Api, schema: Readonly<Record<string, unknown>>): FollowedTable[] {
  const { crud: resources, procedures } = api["~svc"];
  const found = new Map<string, FollowedTable>();
  for (const { realtime, isView, id, source } of resources) {
    if (!realtime || isView) continue;
    const table = describe(source.table, id.name);
    // If one of several resources needs the whole old row, it is logged for all of them.
    if (found.get(tableName(table))?.identity === "full") continue;
    found.set(tableName(table), realtime.scoped ? { ...table, identity: "full" } : table);
  }
  const silent = new Set(resources.map(({ schema: space, table }) => tableName({ schema: space, name: table })));
  const add = (table: PgTable) => {
    const followed = describe(table);
    if (!found.has(tableName(followed))) found.set(tableName(followed), followed);
  };
  for (const value of Object.values(schema)) {
    if (!is(value, PgTable) || silent.has(nameOfTable(value))) continue;
    // The platform's own, such as those of generated/auth-schema.ts, change too often, and hold secrets.
    if (!isOfPlatform(tableConfig(value).schema)) add(value);
  }
  for (const { follows } of procedures.values()) for (const table of follows ?? []) add(table);
  const ofOrganizations = nameOfTable(organizationMembers);
  const usesOrganizations = ({ team }: FollowedTable) =>
    team !== null && tableName({ schema: team.schema, name: team.table }) === ofOrganizations;
  if ([...found.values()].some(usesOrganizations)) add(organizationMembers);
  for (const table of ofPlatform) found.set(tableName(table), table);
  // Who joins or leaves a team must hear of it: otherwise the rows of a team are told to all who read the table.
  return [...found.values()].map((table) =>
    table.team && !found.has(tableName({ schema: table.team.schema, name: table.team.table }))
      ? { ...table, team: null }
      : table,
  );
}

const isOfPlatform = (schema: string | undefined) => /^(auth|svc(_\w+)?|graphile_worker)$/.test(schema ?? "");

/** @param id the column by which events name a row. (Default: the primary key) */
function describe(table: PgTable, id?: string): FollowedTable {
  const { schema = "public", name, columns, policies } = tableConfig(table);
  const readers = ownerColumns(policies);
  const owners = columns.flatMap((column) => (readers.includes(column.name) ? [column.name] : []));
  const team = teamScope(policies);
  const narrowing = narrowingColumns({ schema, name, owners, team });
  const primary = primaryKey(table).map((column) => column.name);
  const key = id === undefined ? primary : [id];
  const isNamed = narrowing.length === 0 && key.every((column) => primary.includes(column));
  // Without any identity PostgreSQL would refuse every update of a published table.
  const identity = key.length === 0 ? "full" : isNamed ? [] : [...new Set([...key, ...narrowing])];
  return { schema, name, owners, team, required: notNull(columns, narrowing), identity };
}

const notNull = (columns: readonly { name: string; notNull: boolean }[], names: readonly string[]) =>
  columns.filter((column) => column.notNull && names.includes(column.name)).map(({ name }) => name);

/** What the log must say of a changed row, so that only those who read it are told. */
export function narrowingColumns(table: Omit<FollowedTable, "required" | "identity">): readonly string[] {
  const { owners, team } = table;
  if (owners.length > 0 || !team) return owners;
  return listsMembers(table) ? [team.column, team.user] : [team.column];
}

/**
 * Whether a table is itself the one that says who belongs to the teams of its rows. Its rows are also told to the users that
 * they name: a new member follows other teams until then.
 */
export const listsMembers = ({ schema, name, team }: Pick<FollowedTable, "schema" | "name" | "team">) =>
  team?.schema === schema && team.table === name;

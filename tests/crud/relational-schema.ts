/** The tables of relational-world.ts as SQL, and as Drizzle tables with their resources. */
import { type AnyColumn, relations } from "drizzle-orm";
import {
  bigint,
  boolean,
  date,
  doublePrecision,
  foreignKey,
  integer,
  numeric,
  type PgColumnBuilderBase,
  pgTable,
  text,
  timestamp,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { createCrudFactory, createSvcProcedureBuilders, openRls } from "../../src/index.ts";
import type { Column, Declared, Reference, Table } from "./relational-types.ts";
import type { Memberships } from "./relational-world.ts";

export const kinds: [kind: string, type: string, build: (name: string) => PgColumnBuilderBase][] = [
  ["text", "text", (name) => text(name)],
  ["integer", "integer", (name) => integer(name)],
  ["bigint", "bigint", (name) => bigint(name, { mode: "bigint" })],
  ["numeric", "numeric(8,2)", (name) => numeric(name, { precision: 8, scale: 2 })],
  ["number", "double precision", (name) => doublePrecision(name)],
  ["boolean", "boolean", (name) => boolean(name)],
  ["timestamp", "timestamp with time zone", (name) => timestamp(name, { withTimezone: true })],
  ["date", "date", (name) => date(name)],
  ["uuid", "uuid", (name) => uuid(name)],
];

export const everybody = "svc_anonymous, svc_authenticated";
export const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;

export const membersSql = (name: string, memberships: Memberships) => `
  create table ${name} (user_id text, team integer);
  insert into ${name} select * from json_to_recordset('${JSON.stringify(memberships.map(([user_id, team]) => ({ user_id, team })))}')
    as m (user_id text, team integer);
  alter table ${name} enable row level security;
  create policy own on ${name} to svc_authenticated using (user_id = (select svc.current_user_id()));
  grant select on ${name} to ${everybody};`;

export const tableSql = ({ name, columns, rows, policy, hasPair }: Table) => `
  create table ${name} (${columns.map((one) => `${quote(one.name)} ${one.type}${one.property === "id" ? " primary key" : ""}`)}
    ${hasPair ? `, unique (${["a", "b"].map((key) => quote((columns.find((one) => one.property === key) as Column).name))})` : ""});
  insert into ${name} select * from json_populate_recordset(null::${name}, $rows$${JSON.stringify(
    rows.map((row) => Object.fromEntries(columns.map((one) => [one.name, row[one.property]]))),
  )}$rows$);
  alter table ${name} enable row level security;
  create policy ours on ${name} for select to ${policy.roles} using (${policy.using});
  grant select on ${name} to ${everybody};`;

/** The same tables for Drizzle, and a resource for each that has options. */
export function resources(tables: Table[], declared: Declared[], references: Reference[]) {
  // biome-ignore lint/suspicious/noExplicitAny: tables whose columns only the seed knows
  const made: Record<string, any> = {};
  const columnsOf = (table: Table, properties: string[]) =>
    properties.map((one) => made[table.name][one] as AnyColumn) as [AnyColumn];
  for (const table of tables) {
    const columns = Object.fromEntries(
      table.columns.map(({ property, name, kind }) => {
        const [, , build] = kinds.find(([one]) => one === kind) as (typeof kinds)[number];
        const built = build(name) as ReturnType<typeof text>;
        return [property, property === "id" ? built.primaryKey().$defaultFn(() => "" as never) : built];
      }),
    );
    made[table.name] = pgTable(table.name, columns, () => [
      ...openRls({ read: "anyone", write: "nobody" }),
      ...(table.hasPair ? [unique().on(...(columnsOf(table, ["a", "b"]) as never as [never]))] : []),
      ...references
        .filter(({ from }) => from === table)
        .map(({ to, columns: own, references: keys }) =>
          foreignKey({ columns: columnsOf(table, own) as never, foreignColumns: columnsOf(to, keys) as never }),
        ),
    ]);
  }
  const schema: Record<string, unknown> = { ...made };
  for (const table of tables) {
    const list = declared.filter((one) => one.table === table);
    schema[`${table.name}Relations`] = relations(made[table.name], ({ one, many }) =>
      Object.fromEntries(
        list.map(({ name, reference, kind }) => {
          const relationName = `${references.indexOf(reference)}`;
          const { from, to, columns, references: keys } = reference;
          if (kind === "many") return [name, many(made[from.name], { relationName })];
          const [near, far] = [columnsOf(from, columns), columnsOf(to, keys)];
          return kind === "single"
            ? [
                name,
                one(made[from.name], { relationName: `of ${relationName}`, fields: far, references: near as never }),
              ]
            : [name, one(made[to.name], { relationName, fields: near, references: far as never })];
        }),
      ),
    );
  }
  const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof schema>(), schema);
  return Object.fromEntries(
    tables.flatMap(({ name, options }) => {
      if (!options) return [];
      const { visible, softDelete, include, groupBy, measures, ...rest } = options;
      return [
        [
          name,
          createCrud(made[name], {
            ...rest,
            methods: ["list", "get"],
            columns: { pick: visible },
            ...(softDelete && { softDelete: { field: softDelete } }),
            include: include.map((one) => (typeof one === "string" ? one : { ...one, through: made[one.through] })),
            aggregate: { groupBy, measures },
            graphql: false,
          } as never),
        ],
      ];
    }),
  );
}

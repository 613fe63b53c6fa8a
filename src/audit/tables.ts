/**
 * Tables in the source: whether an expression is a Drizzle table, and its name in the database.
 * Next hop: `reach.ts` and `runtime-tables.ts`.
 */
import type { Origin } from "./origin.ts";
import type { Resolver } from "./resolve.ts";

/**
 * Functions of `drizzle-orm/pg-core` that run at definition time: SQL in them becomes DDL and does not run in handlers.
 */
const makers =
  /^(pg(Table|View|MaterializedView|Schema|Enum|Policy|Role|Sequence)|pgTableCreator|customType|index|uniqueIndex|check)$/;

export interface TableName {
  /** undefined for the default schema. */
  schema: string | undefined;
  /** undefined when the source does not show it. */
  name: string | undefined;
}

/** Whether an expression defines part of the schema. */
export function isSchemaPart(resolver: Resolver, origin: Origin): boolean {
  return rootMaker(resolver, origin) !== undefined;
}

/** The table's name, when the expression makes a table or a view. */
export function tableOf(resolver: Resolver, origin: Origin): TableName | undefined {
  if (origin.kind !== "node" || origin.node.type !== "CallExpression") return undefined;
  const { node, file } = origin;
  const callee = node.callee;
  const read = (argument: (typeof node.arguments)[number] | undefined) => argument && resolver.constant(argument, file);

  for (const made of resolver.origins(callee as typeof node, file)) {
    if (made.kind === "package" && made.from.startsWith("drizzle-orm")) {
      if (/^pg(Table|View|MaterializedView)$/.test(made.name))
        return { schema: undefined, name: read(node.arguments[0]) };
    }
    // pgSchema("…").table("…"), pgTableCreator(…)("…")
    if (made.kind !== "node" || made.node.type !== "CallExpression") continue;
    const maker = rootMaker(resolver, made);
    if (maker === "pgSchema" && /^(table|view|materializedView)$/.test(made.path[0] ?? "")) {
      const schema = made.node.arguments[0] && resolver.constant(made.node.arguments[0], made.file);
      return { schema, name: read(node.arguments[0]) };
    }
    if (maker === "pgTableCreator") return { schema: undefined, name: undefined };
  }
  // pgView("…").as(…)
  if (callee.type !== "MemberExpression" || rootMaker(resolver, origin) === undefined) return undefined;
  const [object] = resolver.origins(callee.object as typeof node, file);
  return object && tableOf(resolver, object);
}

/** The drizzle function at the start of a call chain, when it defines schema. */
function rootMaker(resolver: Resolver, origin: Origin, seen = new Set<unknown>()): string | undefined {
  if (origin.kind === "package") {
    if (!origin.from.startsWith("drizzle-orm")) return undefined;
    return makers.test(origin.name) || origin.name === "relations" ? origin.name : undefined;
  }
  if (origin.kind !== "node" || origin.node.type !== "CallExpression" || seen.has(origin.node)) return undefined;
  seen.add(origin.node);
  for (const callee of resolver.origins(origin.node.callee as typeof origin.node, origin.file)) {
    const maker = rootMaker(resolver, callee, seen);
    if (maker) return maker;
  }
  return undefined;
}

/** Names that belong to the platform's runtime. */
export const isRuntimeName = (name: string): boolean => /^(_system_|_gencow_)/i.test(name);
export const isRuntimeSchema = (name: string): boolean => /^(svc|svc_hidden|svc_private|graphile_worker)$/i.test(name);

export const isRuntimeTable = ({ schema, name }: TableName): boolean =>
  (schema !== undefined && isRuntimeSchema(schema)) || (name !== undefined && isRuntimeName(name));

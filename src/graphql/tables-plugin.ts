/**
 * Reads: restricts PostGraphile to the exposed tables and columns, renames them, and applies the rules of the generated
 * list: no soft-deleted rows, no callers without a session where one is required, the same page size and order.
 * Next hop: `preset.ts` lists the plugins, PostGraphile writes the SQL, the tables' policies filter the rows.
 */

import { type PgCodec, type PgResourceOptions, type PgSelectStep, TYPES } from "@dataplan/pg";
import { type ConnectionStep, type FieldArgs, lambda, type Step } from "grafast";
import type { ValueNode } from "grafast/graphql";
import type {} from "graphile-build-pg"; // its names in GraphileConfig
import { sql } from "pg-sql2";
import { jsonIn } from "../kit/json-in.ts";
import { SvcError } from "../kit/svc-error.ts";
import { correctRange, keepNull } from "./codecs.ts";
import { type Exposed, type ExposedTable, tableOf } from "./exposed.ts";
import { enumValueName, listName, rowName, typeName } from "./names.ts";
import { nullableOrder } from "./nullable-orders.ts";
import type { Order, RootField } from "./plain-document.ts";
import { fromContext } from "./request-context.ts";

/** Behaviours that disable everything. PostGraphile requires the existing ones in the list. */
const nothing = (behavior: string) => [behavior, "-*"] as never;

export function tablesPlugin(exposed: Exposed): GraphileConfig.Plugin {
  const find: Find = (place) => tableOf(exposed, place);
  return {
    name: "SvcTablesPlugin",
    version: "0.0.0",
    inflection: { replace: names(find, exposed) },
    gather: {
      namespace: "svcTables",
      hooks: {
        // Unknown types are omitted from GraphQL, without a warning at every start.
        pgCodecs_findPgCodec(_info: unknown, event: { pgCodec: PgCodec | null; pgType: PgType }) {
          event.pgCodec ??= isUnknown(event.pgType) ? TYPES.void : null;
        },
        pgCodecs_PgCodec(_info: unknown, { pgCodec }: { pgCodec: PgCodec }) {
          correctRange(pgCodec);
          keepNull(pgCodec);
        },
        pgTables_PgResourceOptions(_info: unknown, { resourceOptions }: { resourceOptions: PgResourceOptions }) {
          const table = find(resourceOptions);
          if (table) resourceOptions.selectAuth = ($select) => guard($select as PgSelectStep, table);
          // The catalog knows no key of a view. Without one its pages have neither cursors nor an order of equal rows.
          if (table?.crud.isView) resourceOptions.uniques = [{ attributes: [table.crud.id.name] }];
        },
      },
    } as never, // its types require a cache and a state, which this plugin lacks
    schema: {
      behaviorRegistry: {
        // PostGraphile uses it without declaring it, and warns.
        add: {
          "resource:connection:backwards": { description: "pages from the end", entities: ["pgResource"] },
        } as never,
      },
      entityBehavior: behaviors(find),
      hooks: fields(find),
    },
  };
}

interface PgType {
  typname: string;
  typtype: string;
}

/** Types of pgvector, and multiranges. */
const isUnknown = ({ typname, typtype }: PgType) => typtype === "m" || /^_?(vector|halfvec|sparsevec)$/.test(typname);

type Find = (place: Parameters<typeof tableOf>[1]) => ExposedTable | undefined;

/** The type of a part of a plugin. */
type Part<
  Scope extends "inflection" | "schema",
  Name extends keyof NonNullable<GraphileConfig.Plugin[Scope]>,
> = NonNullable<NonNullable<GraphileConfig.Plugin[Scope]>[Name]>;

const columnOf = (find: Find, codec: PgCodec, attributeName: string) => find(codec)?.columns.get(attributeName);

/** What tables and columns are called. */
function names(find: Find, exposed: Exposed): Part<"inflection", "replace"> {
  const attribute: Part<"inflection", "replace">["attribute"] = (previous, _options, details) =>
    columnOf(find, details.codec, details.attributeName)?.field ?? previous?.(details) ?? details.attributeName;
  return {
    _attributeName: attribute,
    attribute,
    tableType(previous, _options, codec) {
      const table = find(codec);
      return table ? typeName(this, table) : (previous?.(codec) ?? "");
    },
    allRowsConnection(previous, _options, resource) {
      const table = find(resource);
      return table ? listName(this, table) : (previous?.(resource) ?? "");
    },
    // Such as the enum `order_status` beside the table `order_statuses`: one name for two types is no schema.
    enumType(previous, _options, codec) {
      const name = previous?.(codec) ?? "";
      return [...exposed.values()].some((table) => typeName(this, table) === name) ? `${name}Value` : name;
    },
    enumValue: (_previous, _options, value, codec) =>
      enumValueName(
        value,
        codec.values.map(({ value: label }) => label),
      ),
    rowByUnique(previous, _options, details) {
      const table = find(details.resource);
      return table ? rowName(this, table) : (previous?.(details) ?? "");
    },
  };
}

/** Its type is not in GraphQL: a column of it would be a warning at every start. */
const isComposite = (codec: PgCodec | undefined): boolean => {
  const inner = codec?.arrayOfCodec ?? codec?.domainOfCodec;
  return inner ? isComposite(inner) : Boolean(codec?.attributes);
};

/** What is there: exposed tables and their visible columns, as far as their resources have the operations. */
function behaviors(find: Find): Part<"schema", "entityBehavior"> {
  return {
    pgCodec: {
      override(behavior, codec) {
        if (!codec.attributes) return behavior as never;
        const table = find(codec);
        if (!table) return nothing(behavior);
        return [behavior, ...(table.crud.count === "exact" ? [] : ["-totalCount"])] as never;
      },
    },
    pgResource: {
      override(behavior, resource) {
        const table = find(resource);
        if (!table) return nothing(behavior);
        return [
          behavior,
          "-list",
          "-query:resource:list",
          ...(table.offers("list") ? [] : ["-connection", "-query:resource:connection"]),
        ] as never;
      },
    },
    pgResourceUnique: {
      override(behavior, [resource, unique]) {
        const table = find(resource);
        const isId = unique.attributes.length === 1 && unique.attributes[0] === table?.crud.id.name;
        return (table?.offers("get") && isId && !table.crud.isView ? behavior : nothing(behavior)) as never;
      },
    },
    pgCodecRelation: {
      override(behavior, relation) {
        const [local, remote] = [find(relation.localCodec), find(relation.remoteResource)];
        const areShown = (table: ExposedTable | undefined, names: readonly string[]) =>
          names.every((name) => table?.columns.has(name));
        const isShown =
          areShown(local, relation.localAttributes) &&
          areShown(remote, relation.remoteAttributes) &&
          remote?.offers(relation.isUnique ? "get" : "list");
        return (isShown ? [behavior, "-list", "-resource:list"] : nothing(behavior)) as never;
      },
    },
    pgCodecAttribute: {
      override(behavior, [codec, attributeName]) {
        if (!find(codec)) return behavior as never;
        const column = columnOf(find, codec, attributeName);
        if (!column || isComposite(codec.attributes?.[attributeName]?.codec)) return nothing(behavior);
        return [
          behavior,
          "-attribute:base",
          ...(column.canFilter ? [] : ["-attribute:filterBy", "-condition:attribute:filterBy"]),
          ...(column.canWrite ? ["attribute:insert", "attribute:update"] : ["-attribute:insert", "-attribute:update"]),
        ] as never;
      },
    },
  };
}

/** What the fields of tables take and do: cursors, page sizes, the default order, and the plain statement they stand for. */
function fields(find: Find): Part<"schema", "hooks"> {
  return {
    GraphQLScalarType(config, build) {
      if (config.name !== build.inflection.builtin("Cursor")) return config;
      const parseValue = (value: unknown) => cursor(build, value);
      return {
        ...config,
        parseValue,
        parseLiteral: (node: ValueNode) => parseValue(node.kind === "StringValue" ? node.value : undefined),
      } as never;
    },
    GraphQLEnumType_values_value(value, build, { scope }) {
      const table = scope.isPgRowSortEnum ? find(scope.pgCodec) : undefined;
      const apply = table && scope.pgCodec && nullableOrder(scope.valueName, build, scope.pgCodec, table);
      return apply ? { ...value, extensions: { ...value.extensions, grafast: { apply } } } : value;
    },
    GraphQLObjectType_fields_field(field, build, { scope }) {
      const table = find(scope.pgFieldResource);
      if (!table) return field;
      const { extensions } = field;
      if (scope.isPgRowByUniqueConstraintField) {
        return { ...field, extensions: { ...extensions, svcRoot: { table, operation: "get" } satisfies RootField } };
      }
      if (!scope.isPgFieldConnection) return field;
      const { plan } = field;
      return {
        ...field,
        extensions: {
          ...extensions,
          svcRoot: { table, operation: "list", orders: ordersOf(build.inflection, table) } satisfies RootField,
          svcPage: { byDefault: table.crud.defaultLimit, most: table.crud.maxLimit },
        },
        plan($parent: Step, fieldArgs: FieldArgs, info: never) {
          const $connection = plan?.($parent as never, fieldArgs as never, info) as Connection;
          return limitPage($connection, fieldArgs, table);
        },
      } as never;
    },
    GraphQLObjectType_fields_field_args(args, build, { scope }) {
      const table = find(scope.pgFieldResource);
      if (!scope.isPgFieldConnection || !table) return args;
      const { first, last, orderBy, ...others } = args;
      const order = build.getTypeByName(build.inflection.orderByType(typeName(build.inflection, table)));
      const values = order && "getValues" in order ? order.getValues() : [];
      const byDefault = defaultOrder(table).map((name) => build.inflection.constantCase(name));
      const known = byDefault.map((name) => values.find((value) => value.name === name));
      return {
        // `limitPage` reads these arguments, so they must not apply themselves.
        ...(first && { first: { ...first, applyPlan: undefined, defaultValue: undefined } }),
        ...(last && { last: { ...last, applyPlan: undefined } }),
        ...others,
        ...(orderBy && {
          orderBy: { ...orderBy, ...(known.every(Boolean) && { defaultValue: known.map((value) => value?.value) }) },
        }),
      } as never;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the items can have any type
type Connection = ConnectionStep<any>;

/** Decodes a cursor, a JSON list in base64. The list itself checks whether it fits. @throws GraphQLError */
function cursor({ graphql }: GraphileBuild.Build, value: unknown): unknown {
  if (typeof value === "string" && Array.isArray(jsonIn(Buffer.from(value, "base64").toString()))) return value;
  throw new graphql.GraphQLError("This cursor does not come from an earlier answer.");
}

/** The generated list's order: newest first, or by id. */
function defaultOrder({ columns }: ExposedTable): string[] {
  const fields = [...columns.values()].map(({ field }) => field);
  return [...(fields.includes("createdAt") ? ["createdAt-desc"] : []), "id-desc"];
}

/** Orders by a column, by their names in GraphQL. */
function ordersOf(words: GraphileBuild.Inflection, { columns }: ExposedTable): ReadonlyMap<string, Order> {
  const names = [...columns.values()].flatMap(({ field, column }) =>
    (["asc", "desc"] as const).map((direction) => [
      words.constantCase(`${field}-${direction}`),
      [column.property, direction] as Order,
    ]),
  ) as [string, Order][];
  return new Map(names.filter(([name]) => names.filter(([other]) => other === name).length === 1));
}

/** Conditions for every read of the table's rows, on any path of the query. */
function guard($select: PgSelectStep, { crud }: ExposedTable): void {
  const { softDelete, anonymous } = crud;
  if (softDelete) {
    const column = sql`${$select.alias}.${sql.identifier(softDelete.name)}`;
    $select.where(softDelete.kind === "boolean" ? sql`${column} is not true` : sql`${column} is null`);
  }
  if (anonymous) return;
  const $allowed = lambda(fromContext("session"), (session) => {
    if (!session) throw new SvcError("UNAUTHORIZED");
    return true;
  });
  // As a value of the statement it is checked even where PostGraphile merges two statements.
  $select.where(sql`${$select.placeholder($allowed, TYPES.boolean)}`);
}

/** The generated list's page sizes: its default, and at most its limit. */
function limitPage($connection: Connection, fieldArgs: FieldArgs, { crud }: ExposedTable): Connection {
  const clamp = (value: unknown) => {
    if (value === null || value === undefined) return null;
    if (Number(value) < 0) throw new SvcError("VALIDATION_FAILED", "A page cannot have fewer than 0 rows.");
    return Math.min(Number(value), crud.maxLimit);
  };
  const [$first, $last] = [fieldArgs.getRaw("first"), fieldArgs.getRaw("last")];
  $connection.setFirst(
    lambda([$first, $last], ([first, last]) =>
      clamp(first ?? (last === null || last === undefined ? crud.defaultLimit : null)),
    ),
  );
  $connection.setLast(lambda($last, clamp));
  return $connection;
}

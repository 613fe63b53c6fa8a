/**
 * Reads a document whose one root field is a list, a row or a write with plain columns. Such a document needs no plan
 * of PostGraphile: the statement of the call by name answers it, and this file gives the answer GraphQL's form.
 * Next hop: `plain-values.ts` for the forms of values, `plain-call.ts` calls the statement.
 *
 * Null for a document with anything else: fragments on other types, directives, relations, edges, cursors. PostGraphile
 * answers those, and says what is wrong with arguments.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getVariableValues,
  isEnumType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "grafast/graphql";
import type { ExposedTable } from "./exposed.ts";
import type { Verb } from "./inputs.ts";
import { fragmentsOf } from "./limits.ts";
import { type Form, formOf } from "./plain-values.ts";

/** The table and the operation of a root field. The plugins set it in the field's `extensions`. */
export interface RootField {
  table: ExposedTable;
  operation: "list" | "get" | Verb;
  /** Of a list: properties and directions by the names of `orderBy`. */
  orders?: ReadonlyMap<string, Order>;
}

export type Order = readonly [property: string, direction: "asc" | "desc"];

/** A member of an object in the answer: a constant, or a column of the row. */
export type RowMember = { key: string; constant: string } | { key: string; property: string; form: Form };

type ListMember = { key: string } & (
  | { is: "nodes"; row: RowMember[] }
  | { is: "totalCount" }
  | { is: "constant"; value: string }
);

export interface PlainDocument extends Pick<RootField, "table" | "operation"> {
  /** The name of the field in the answer. */
  key: string;
  field: FieldNode;
  /** The column's properties that the answer has. */
  select: string[];
  /** Of a list. */
  members: ListMember[];
  /** Of a row; null: the id alone. */
  row: RowMember[] | null;
  /** @returns the field's arguments, undefined when they do not fit */
  argumentsOf(variables: Record<string, unknown>): Record<string, unknown> | undefined;
  /** By the value of `orderBy`. */
  orders: ReadonlyMap<unknown, Order>;
}

type Fields = FieldNode[] | null;

/** @param document was validated @returns null for a document that needs a plan */
export function plainDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): PlainDocument | null {
  const fragments = fragmentsOf(document);
  const root = schema.getRootType(operation.operation);
  if (!root || operation.directives?.length) return null;
  const [node, ...others] = fieldsOf(operation.selectionSet, root, fragments) ?? [];
  const field = node && root.getFields()[node.name.value];
  const known = field?.extensions.svcRoot as RootField | undefined;
  if (!node || !field || !known || others.length > 0) return null;

  const type = getNamedType(field.type);
  const selected = isObjectType(type) ? fieldsOf(node.selectionSet, type, fragments) : [];
  if (!selected) return null;
  const isList = known.operation === "list";
  const members = isList ? membersOf(selected, type as GraphQLObjectType, known.table, fragments) : [];
  const row = isObjectType(type) && !isList ? rowOf(selected, type, known.table) : null;
  if (!members || (isObjectType(type) && !isList && !row)) return null;
  const rows = isList ? members.flatMap((member) => ("row" in member ? [member.row] : [])) : [row ?? []];
  if (rows.length === 0) return null; // a count alone
  const select = rows.flat().flatMap((member) => ("property" in member ? [member.property] : []));
  return {
    table: known.table,
    operation: known.operation,
    key: keyOf(node),
    field: node,
    select: [...new Set(select)],
    members,
    row,
    argumentsOf: (variables) => argumentsOf(schema, operation, field, node, variables),
    orders: ordersOf(field, known),
  };
}

const keyOf = (node: FieldNode) => node.alias?.value ?? node.name.value;

/** The fields of a selection, with those of its fragments. */
function fieldsOf(
  set: SelectionSetNode | undefined,
  type: GraphQLObjectType,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): Fields {
  const fields: FieldNode[] = [];
  for (const node of set?.selections ?? []) {
    if (node.directives?.length) return null;
    if (node.kind === Kind.FIELD) {
      if (keyOf(node) === "__proto__") return null;
      fields.push(node);
      continue;
    }
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
    const on = fragment?.typeCondition?.name.value ?? type.name;
    const inner =
      on === type.name && !fragment?.directives?.length && fieldsOf(fragment?.selectionSet, type, fragments);
    if (!inner) return null;
    fields.push(...inner);
  }
  // Validation has made sure that equal names mean equal fields. Selections of theirs would have to be merged.
  const byKey = new Map(fields.map((field) => [keyOf(field), field]));
  if (byKey.size < fields.length && fields.some(({ selectionSet }) => selectionSet)) return null;
  return [...byKey.values()];
}

function membersOf(
  fields: FieldNode[],
  type: GraphQLObjectType,
  table: ExposedTable,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): ListMember[] | null {
  const members: ListMember[] = [];
  for (const node of fields) {
    const [key, name] = [keyOf(node), node.name.value];
    if (name === "__typename") members.push({ key, is: "constant", value: type.name });
    else if (name === "totalCount") members.push({ key, is: "totalCount" });
    else if (name === "nodes") {
      const rowType = getNamedType(type.getFields().nodes?.type);
      const selected = isObjectType(rowType) ? fieldsOf(node.selectionSet, rowType, fragments) : null;
      const row = selected && rowOf(selected, rowType as GraphQLObjectType, table);
      if (!row) return null;
      members.push({ key, is: "nodes", row });
    } else return null;
  }
  return members;
}

function rowOf(fields: FieldNode[], type: GraphQLObjectType, table: ExposedTable): RowMember[] | null {
  const columns = new Map([...table.columns.values()].map(({ field, column }) => [field, column]));
  const members: RowMember[] = [];
  for (const node of fields) {
    const [key, name] = [keyOf(node), node.name.value];
    if (name === "__typename") {
      members.push({ key, constant: type.name });
      continue;
    }
    const column = columns.get(name);
    const field = type.getFields()[name];
    const form = column && field && formOf(column, getNamedType(field.type));
    if (!form) return null;
    members.push({ key, property: column.property, form });
  }
  return members;
}

function argumentsOf(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Record<string, unknown>,
): Record<string, unknown> | undefined {
  try {
    const { coerced } = getVariableValues(schema, variableDefinitions, variables, { maxErrors: 1 });
    return coerced && getArgumentValues(field, node, coerced);
  } catch {
    return undefined;
  }
}

function ordersOf({ args }: GraphQLField<unknown, unknown>, { orders }: RootField): PlainDocument["orders"] {
  const type = getNamedType(args.find(({ name }) => name === "orderBy")?.type);
  const values = isEnumType(type) ? type.getValues() : [];
  return new Map(
    values.flatMap(({ name, value }) => {
      const order = orders?.get(name);
      return order ? [[value, order]] : [];
    }),
  );
}

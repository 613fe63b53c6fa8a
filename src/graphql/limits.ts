/**
 * Measures a document: its depth, its fields, aliases and fragments, and the rows that it could read. Fragments count wherever
 * they are spread, but each is measured once, so a document that expands to millions of fields costs no more than its text.
 * Next hop: `documents.ts` holds documents against the limits before they are validated.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from "grafast/graphql";
import { SvcError } from "../kit/svc-error.ts";

export interface DocumentSize {
  depth: number;
  fields: number;
  aliases: number;
  /** Spreads and inline fragments. */
  fragments: number;
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** By name. */
export const fragmentsOf = (document: DocumentNode): Fragments =>
  new Map(
    document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
  );

/**
 * Measures an operation without a schema.
 *
 * @throws SvcError VALIDATION_FAILED when fragments form a cycle
 */
export function sizeOf(document: DocumentNode, operation: OperationDefinitionNode): DocumentSize {
  const fragments = fragmentsOf(document);
  const sizes = new Map<string, DocumentSize | null>();

  const ofFragment = (name: string): DocumentSize => {
    const known = sizes.get(name);
    if (known) return known;
    if (known === null) throw circle();
    const fragment = fragments.get(name);
    if (!fragment) return { depth: 0, fields: 0, aliases: 0, fragments: 0 };
    sizes.set(name, null); // in progress
    const size = ofSet(fragment.selectionSet);
    sizes.set(name, size);
    return size;
  };
  const ofSet = (set: SelectionSetNode | undefined): DocumentSize => {
    const total = { depth: 0, fields: 0, aliases: 0, fragments: 0 };
    for (const selection of set?.selections ?? []) {
      const isField = selection.kind === Kind.FIELD;
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD ? ofFragment(selection.name.value) : ofSet(selection.selectionSet);
      // Introspection is deep by nature; `validate` limits its depth.
      const isSchema = isField && /^__(schema|type)$/.test(selection.name.value);
      total.depth = Math.max(total.depth, isSchema ? 1 : inner.depth + (isField ? 1 : 0));
      total.fields += inner.fields + (isField ? 1 : 0);
      total.aliases += inner.aliases + (isField && selection.alias ? 1 : 0);
      total.fragments += inner.fragments + (isField ? 0 : 1);
    }
    return total;
  };
  return ofSet(operation.selectionSet);
}

/**
 * The writes of a valid operation: each field of a mutation is a call of its own. Fields of one name with the same arguments count
 * each, although they are carried out once.
 */
export function writesOf(document: DocumentNode, operation: OperationDefinitionNode): number {
  if (operation.operation !== "mutation") return 0;
  const fragments = fragmentsOf(document);
  const ofSet = (set: SelectionSetNode | undefined): number =>
    (set?.selections ?? []).reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return sum + 1;
      const named = selection.kind === Kind.FRAGMENT_SPREAD;
      return sum + ofSet(named ? fragments.get(selection.name.value)?.selectionSet : selection.selectionSet);
    }, 0);
  return ofSet(operation.selectionSet);
}

const circle = () => new SvcError("VALIDATION_FAILED", "Fragments spread each other in a cycle.");

/** The cost of counting all rows of a connection. */
const costOfCount = 10;

/**
 * The maximum cost of a valid operation: one per row, and more per count.
 *
 * @param variables as the client sent them
 */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): number {
  const fragments = fragmentsOf(document);
  const costs = new Map<string, number>();
  const defaults = new Map(
    (operation.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
    ),
  );
  const root = schema.getRootType(operation.operation);
  const values = { ...Object.fromEntries(defaults), ...variables };

  const ofSet = (set: SelectionSetNode | undefined, type: GraphQLNamedType | null | undefined): number => {
    let total = 0;
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FIELD) {
        total += isObjectType(type) ? ofField(selection, type) : 0;
      } else if (selection.kind === Kind.INLINE_FRAGMENT) total += ofSet(selection.selectionSet, type);
      else total += ofFragment(selection.name.value, type);
    }
    return total;
  };
  const ofFragment = (name: string, type: GraphQLNamedType | null | undefined): number => {
    const known = costs.get(name);
    if (known !== undefined) return known;
    const cost = ofSet(fragments.get(name)?.selectionSet, type);
    costs.set(name, cost);
    return cost;
  };
  const ofField = (node: FieldNode, type: GraphQLObjectType): number => {
    const field = type.getFields()[node.name.value];
    if (!field) return 0; // a meta field such as __typename
    const isPart = /(Connection|Edge)$/.test(type.name); // of a page that was already counted
    if (isPart && field.name === "totalCount") return costOfCount;
    const inner = ofSet(node.selectionSet, getNamedType(field.type));
    const page = field.extensions.svcPage as { byDefault: number; most: number } | undefined;
    if (page) return pageSize(node, page, values) * (1 + inner) + orderings(node, values);
    return isPart ? inner : inner + (node.selectionSet || type === root ? 1 : 0);
  };
  return ofSet(operation.selectionSet, root);
}

/** Number of sort criteria of a page; each adds to the statement. */
function orderings({ arguments: args = [] }: FieldNode, variables: Readonly<Record<string, unknown>>): number {
  const given = args.find(({ name }) => name.value === "orderBy");
  const value = given && valueFromASTUntyped(given.value, variables);
  return Array.isArray(value) ? value.length : 0;
}

/** Rows of the page that a field requests. */
function pageSize(
  { arguments: args = [] }: FieldNode,
  { byDefault, most }: { byDefault: number; most: number },
  variables: Readonly<Record<string, unknown>>,
): number {
  const given = args
    .filter(({ name }) => name.value === "first" || name.value === "last")
    .map(({ value }) => valueFromASTUntyped(value, variables))
    .filter((value) => typeof value === "number");
  return Math.min(given.length > 0 ? Math.max(...given, 0) : byDefault, most);
}

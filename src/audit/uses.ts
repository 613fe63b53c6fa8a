/**
 * Finds what an anonymous handler may not do in one piece of code: read `unsafeDb`, use handwritten SQL, reach the
 * database without the context, or obscure what it does.
 * Next hop: `reach.ts` asks this for every node that a handler reaches.
 */
import type { Origin } from "./origin.ts";
import { isFunction, literalText, memberName, type Node } from "./parse.ts";
import type { Resolver } from "./resolve.ts";
import type { SourceFile } from "./scopes.ts";

export interface Use {
  /** The used thing; completes the message "uses …". */
  what: string;
  /** Whether handwritten SQL may run here; texts near it may then name tables. */
  sql: boolean;
  /** The audit cannot see what it does. */
  opaque?: boolean;
}

const unsafeDb: Use = { what: "unsafeDb, which reads and writes past every policy", sql: true };
const rawSql = (what: string): Use => ({ what, sql: true });
const opaque = (what: string): Use => ({ what, sql: false, opaque: true });

const sqlMakers = new Set(["sql", "SQL", "StringChunk", "*"]);
const clients =
  /^(pg|postgres|pg-(pool|native|cursor|promise|query-stream)|postgres-.*|kysely|knex|slonik|@neondatabase\/.*|@vercel\/postgres|@electric-sql\/pglite)(\/|$)/;
const drivers =
  /^drizzle-orm\/(node-postgres|postgres-js|pglite|neon|vercel-postgres|pg-proxy|aws-data-api|xata|bun-sql)/;

/** The forbidden use, if any, of something from a package or a global. */
export function outsideUse(origin: Origin): Use | undefined {
  if (origin.kind === "unknown") return origin.tooFar ? opaque("a value that comes from too many places") : undefined;
  if (origin.kind === "global") {
    if (origin.name === "eval" || origin.name === "Function") return opaque(`${origin.name}, which runs text as code`);
    if (origin.name === "arguments") return opaque("arguments, whose members have no names");
    return undefined;
  }
  if (origin.kind !== "package") return undefined;
  const { from, name } = origin;
  if (from.startsWith("#")) return opaque(`an alias of package.json ("${from}"), which is not followed`);
  if (clients.test(from) || drivers.test(from)) return rawSql(`a database client of its own, from "${from}"`);
  if (from === "drizzle-orm" && sqlMakers.has(name))
    return rawSql(name === "*" ? 'all of "drizzle-orm", sql included' : `raw SQL (${name} from "drizzle-orm")`);
  if (/^(node:)?module$/.test(from) && name !== "isBuiltin") return opaque(`"${from}", which loads code by name`);
  if (/^(node:)?vm$/.test(from)) return opaque(`"${from}", which runs text as code`);
  return undefined;
}

/** The forbidden use, if any, in the node itself. */
export function nodeUse(resolver: Resolver, node: Node, file: SourceFile): Use | undefined {
  switch (node.type) {
    case "MemberExpression": {
      const name = memberName(node) ?? (node.computed ? resolver.constant(node.property, file) : undefined);
      if (name === "unsafeDb" && !isOwnMember(resolver, node, file)) return unsafeDb;
      if (name === "sql" && isHelperOfQuery(node, file)) return rawSql("raw SQL (sql of a query's callback)");
      if (name === "$client") return rawSql("$client, the database client under Drizzle");
      return undefined;
    }
    case "ObjectPattern": {
      const has = (name: string) =>
        node.properties.some((item) => item.type === "Property" && memberName(item) === name);
      if (has("sql") && isLaterParameter(node, file)) return rawSql("raw SQL (sql of a query's callback)");
      return has("unsafeDb") && !isOwnPattern(resolver, node, file) ? unsafeDb : undefined;
    }
    case "Literal":
    case "TemplateLiteral":
      return literalText(node) === "unsafeDb" && !isKey(node, file) ? unsafeDb : undefined;
    case "CallExpression":
      return callUse(resolver, node, file);
    case "ImportExpression":
      if (resolver.constant(node.source, file) === undefined) return opaque("import() of a name that is computed");
      return literalText(node.source) === undefined ? opaque("import() of a name that is no plain text") : undefined;
    default:
      return undefined;
  }
}

function callUse(
  resolver: Resolver,
  node: Extract<Node, { type: "CallExpression" }>,
  file: SourceFile,
): Use | undefined {
  const callee = node.callee;
  if (callee.type !== "MemberExpression") return undefined;
  const name = memberName(callee);
  const [first] = node.arguments;
  if (!first || (name !== "execute" && name !== "query" && name !== "unsafe")) return undefined;
  // A method that the application itself defines is read like any other code.
  if (resolver.functions(callee, file).length > 0) return undefined;
  if (name === "execute") {
    const prepared = /\.prepare\s*\(/.test(textOf(resolver, callee.object as Node, file));
    return prepared || first.type === "ObjectExpression" ? undefined : rawSql("raw SQL (.execute)");
  }
  return isText(resolver, first, file) ? rawSql(`raw SQL (.${name} of a text)`) : undefined;
}

function isText(resolver: Resolver, node: Node, file: SourceFile): boolean {
  return resolver
    .origins(node, file)
    .some(
      (origin) =>
        origin.kind === "node" &&
        (origin.node.type === "TemplateLiteral" ||
          (origin.node.type === "BinaryExpression" && origin.node.operator === "+") ||
          (origin.node.type === "Literal" && typeof origin.node.value === "string")),
    );
}

/** The source text of an expression's origin. */
const textOf = (resolver: Resolver, node: Node, file: SourceFile): string =>
  resolver
    .origins(node, file)
    .map((origin) => (origin.kind === "node" ? origin.file.text.slice(origin.node.start, origin.node.end) : ""))
    .join(" ");

/** `{ unsafeDb: … }.unsafeDb` of the application's own object: the value is checked where it is written. */
function isOwnMember(resolver: Resolver, node: Node, file: SourceFile): boolean {
  const object = (node as Extract<Node, { type: "MemberExpression" }>).object as Node;
  return isOwnObject(resolver.origins(object, file));
}

function isOwnPattern(resolver: Resolver, node: Node, file: SourceFile): boolean {
  const declarator = file.parents.get(node);
  if (declarator?.type !== "VariableDeclarator" || !declarator.init) return false;
  return isOwnObject(resolver.origins(declarator.init, file));
}

const isOwnObject = (origins: Origin[]): boolean =>
  origins.length > 0 &&
  origins.every(
    (origin) =>
      origin.kind === "node" &&
      origin.path.length === 0 &&
      origin.node.type === "ObjectExpression" &&
      origin.node.properties.every((item) => item.type === "Property" && memberName(item) !== undefined),
  );

/**
 * Drizzle passes `sql` to the callbacks of its queries: `where: (t, { sql }) => …`, `(t, helpers) => helpers.sql`…``.
 */
function isLaterParameter(pattern: Node, file: SourceFile): boolean {
  const parent = file.parents.get(pattern);
  return isFunction(parent) && (parent.params as Node[]).indexOf(pattern) > 0;
}

function isHelperOfQuery(node: Extract<Node, { type: "MemberExpression" }>, file: SourceFile): boolean {
  const parent = file.parents.get(node);
  const used =
    parent?.type === "TaggedTemplateExpression" || (parent?.type === "MemberExpression" && parent.object === node);
  return used && node.object.type === "Identifier" && file.bindings.get(node.object)?.kind === "parameter";
}

/** Keys of objects and members are checked at their own place. */
function isKey(node: Node, file: SourceFile): boolean {
  const parent = file.parents.get(node);
  if (parent?.type === "MemberExpression") return parent.property === node;
  return parent?.type === "Property" && parent.key === node;
}

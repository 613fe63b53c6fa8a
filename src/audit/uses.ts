/**
 * Finds what an anonymous handler may not do in one node: read `unsafeDb`, use handwritten SQL, reach the database
 * without the context, or obscure what it does.
 * Next hop: `reach.ts` asks this for every node that a handler reaches.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  declarationOf,
  isFunction,
  literalText,
  memberName,
  type Node,
  type Place,
  parentOf,
  type Source,
} from "./source.ts";
import type { Value, Values } from "./values.ts";

export interface Use {
  /** Completes the message "uses …". */
  what: string;
  /** Handwritten SQL may run here; texts near it may then name tables. */
  sql?: boolean;
  /** It cannot be seen what this does. */
  opaque?: boolean;
}

const unsafeDb: Use = { what: "unsafeDb, which bypasses every policy", sql: true };
const rawSql = (what: string): Use => ({ what, sql: true });
const opaque = (what: string): Use => ({ what, opaque: true });

const clients =
  /^(pg|postgres|pg-(pool|native|cursor|promise|query-stream)|postgres-.*|kysely|knex|slonik|@neondatabase\/.*|@vercel\/postgres|@electric-sql\/pglite|drizzle-orm\/(node-postgres|postgres-js|pglite|neon|vercel-postgres|pg-proxy|aws-data-api|xata|bun-sql).*)(\/|$)/;

/** The package or file of an imported name, and its name there: `*` for all of it. */
export function importOf(node: Node): { from: string; name: string } | undefined {
  const specifier = declarationOf(node)?.node;
  const from = specifier && parentOf(specifier);
  if (from?.type !== "ImportDeclaration") return undefined;
  const named = specifier?.type === "ImportSpecifier" ? specifier.imported : undefined;
  return {
    from: String(from.source.value),
    name: named?.type === "Identifier" ? named.name : (literalText(named ?? from) ?? "*"),
  };
}

const isOwn = (specifier: string): boolean => /^(\.{1,2}(\/|$)|\/|file:)/.test(specifier);

/** The forbidden use, if any, of a name that is not declared in the file. */
export function outsideUse({ node, file, path }: Value): Use | undefined {
  if (node.type !== "Identifier") return undefined;
  const found = importOf(node);
  if (!found) {
    if (declarationOf(node)) return undefined;
    if (node.name === "eval" || node.name === "Function") return opaque(`${node.name}, which runs text as code`);
    return node.name === "arguments" ? opaque("arguments, whose members have no names") : undefined;
  }
  const { from } = found;
  const name = found.name === "*" ? (path[0] ?? "*") : found.name;
  if (isOwn(from)) {
    const client = clientOf(file, from);
    return client ? rawSql(`a database client of its own, from "${client}" by way of "${from}"`) : undefined;
  }
  if (clients.test(from)) return rawSql(`a database client of its own, from "${from}"`);
  if (from === "drizzle-orm" && (name === "SQL" || name === "StringChunk"))
    return rawSql(`raw SQL (${name} from "drizzle-orm")`);
  if (from.startsWith("#")) return opaque(`an alias of package.json ("${from}"), which is not followed`);
  if (/^(node:)?module$/.test(from) && name !== "isBuiltin") return opaque(`"${from}", which loads code by name`);
  return /^(node:)?vm$/.test(from) ? opaque(`"${from}", which runs text as code`) : undefined;
}

/** The database client that a file of the application imports: what runs there cannot be seen when it is called. */
function clientOf(file: Source, from: string): string | undefined {
  const path = from.startsWith("file:") ? new URL(from).pathname : resolve(dirname(file.path), from);
  const found = [path, path.replace(/\.(m?)js$/, ".$1ts"), `${path}.ts`, `${path}/index.ts`].find(
    (one) => /\.m?[jt]s$/.test(one) && existsSync(one),
  );
  const text = found ? readFileSync(found, "utf8") : "";
  const specifiers = [...text.matchAll(/^import\s+(?!type\b)[^"';]*["']([^"']+)["']/gm)].map(([, one = ""]) => one);
  return specifiers.find((one) => clients.test(one));
}

/** The forbidden use, if any, in the node itself. */
export function nodeUse(values: Values, { node, file }: Place): Use | undefined {
  switch (node.type) {
    case "MemberExpression": {
      const name = memberName(node) ?? values.constant({ node: node.property as Node, file });
      const object = { node: node.object as Node, file };
      if (name === "unsafeDb" && !isOwnObject(values.of(object))) return unsafeDb;
      if (name === "raw" && isTag(values, object)) return rawSql('raw SQL (sql.raw of "drizzle-orm")');
      return name === "$client" ? rawSql("$client, the database client under Drizzle") : undefined;
    }
    case "ObjectPattern": {
      const has = (name: string) => node.properties.some((one) => one.type === "Property" && memberName(one) === name);
      const parent = parentOf(node);
      const init = parent?.type === "VariableDeclarator" ? { node: parent.init ?? node, file } : undefined;
      if (has("raw") && init && isTag(values, init)) return rawSql('raw SQL (sql.raw of "drizzle-orm")');
      return has("unsafeDb") && !(init && isOwnObject(values.of(init))) ? unsafeDb : undefined;
    }
    case "Literal":
    case "TemplateLiteral":
      return literalText(node) === "unsafeDb" && !isKey(node) ? unsafeDb : undefined;
    case "CallExpression":
      return callUse(values, node, file);
    case "ImportExpression": {
      const from = literalText(node.source);
      if (from === undefined) return opaque("import() of a name that is not plain text");
      return clients.test(from) ? rawSql(`a database client of its own, from "${from}"`) : undefined;
    }
    default:
      return undefined;
  }
}

function callUse(values: Values, node: Extract<Node, { type: "CallExpression" }>, file: Source): Use | undefined {
  const [first] = node.arguments;
  const callee = node.callee;
  const name = memberName(callee as Node);
  const isTagOfText = values.of({ node: callee as Node, file }).some((one) => drizzleName(one) === "sql");
  if (isTagOfText) return rawSql('raw SQL (a call of sql of "drizzle-orm")');
  if (callee.type !== "MemberExpression" || !first || !/^(execute|query|unsafe)$/.test(name ?? "")) return undefined;
  // A method that the application itself defines is read like any other code.
  if (values.functions({ node: callee, file }).length > 0) return undefined;
  if (name === "execute") {
    const made = values.of({ node: callee.object as Node, file });
    const prepared = made.some((one) => /\.prepare\s*\(/.test(one.file.text.slice(one.node.start, one.node.end)));
    return prepared || first.type === "ObjectExpression" ? undefined : rawSql("raw SQL (.execute)");
  }
  const isText = values
    .of({ node: first, file })
    .some(
      (one) =>
        one.node.type === "TemplateLiteral" ||
        one.node.type === "BinaryExpression" ||
        typeof Object(one.node).value === "string",
    );
  return isText ? rawSql(`raw SQL (.${name} of a text)`) : undefined;
}

/** The export of drizzle-orm, by whatever import; of a member of one, with its name. */
function drizzleName({ node, path }: Value): string | undefined {
  const found = importOf(node);
  return found?.from === "drizzle-orm" ? [found.name, ...path].join(".").replace(/^\*\./, "") : undefined;
}

/** `sql` of drizzle-orm, of a namespace, or of the helpers that Drizzle passes to a query's callback. */
function isTag(values: Values, object: Place): boolean {
  const declared = declarationOf(object.node);
  if (declared?.path?.at(-1) === "sql" || memberName(object.node) === "sql") return true;
  return values.of(object).some(({ node }) => importOf(node)?.name === "sql");
}

/** `{ unsafeDb: … }.unsafeDb` of the application's own object: the value is checked where it is written. */
const isOwnObject = (found: Value[]): boolean =>
  found.length > 0 &&
  found.every(
    ({ node, path }) =>
      path.length === 0 &&
      node.type === "ObjectExpression" &&
      node.properties.every((one) => one.type === "Property" && memberName(one) !== undefined && !isFunction(one)),
  );

/** Keys of objects and members are checked at their own place. */
function isKey(node: Node): boolean {
  const parent = parentOf(node);
  return parent?.type === "MemberExpression"
    ? parent.property === node
    : parent?.type === "Property" && parent.key === node;
}

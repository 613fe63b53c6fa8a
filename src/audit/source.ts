/**
 * One source file of an application: its tree, its comments, and which declaration a name in it means. Types are
 * replaced by blanks, so every position stays the same. Blocks of a function share one scope; that hides no use.
 * Next hop: `values.ts` follows a name to its value.
 */
import { readFileSync } from "node:fs";
import { type AnyNode, type Comment, parse } from "acorn";
import { withoutTypes } from "./without-types.ts";

export type Node = AnyNode;
type Typed<T extends Node["type"]> = Extract<Node, { type: T }>;
export type CallNode = Typed<"CallExpression" | "NewExpression">;
export type FunctionNode = Typed<"FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression">;
export type ClassNode = Typed<"ClassDeclaration" | "ClassExpression">;

export interface Source {
  path: string;
  text: string;
  ast: Typed<"Program">;
  comments: Comment[];
  calls: CallNode[];
  assignments: Typed<"AssignmentExpression">[];
}

export interface Place {
  file: Source;
  node: Node;
}

/** What a name stands for. */
export interface Declaration {
  kind: "import" | "parameter" | "value";
  /** The initial value, the function or the class; the specifier of an import; the function of a parameter. */
  node: Node | undefined;
  /** The name or the pattern that holds it. */
  pattern: Node;
  /** Which part of the value it is: `["a", "b"]` for `{ a: { b } }`; null where no name says so. */
  path: string[] | null;
}

/** @throws SyntaxError */
export function readSource(path: string): Source {
  const text = readFileSync(path, "utf8");
  const file: Source = { path, text, comments: [], calls: [], assignments: [], ast: undefined as never };
  file.ast = parse(/\.m?ts$/.test(path) ? withoutTypes(path, text) : text, {
    ecmaVersion: "latest",
    sourceType: "module",
    allowHashBang: true,
    onComment: file.comments,
  });
  walk(file.ast, (node) => {
    if (node.type === "CallExpression" || node.type === "NewExpression") file.calls.push(node);
    if (node.type === "AssignmentExpression") file.assignments.push(node);
    for (const child of children(node)) parents.set(child, node);
  });
  return file;
}

const parents = new WeakMap<Node, Node>();
export const parentOf = (node: Node): Node | undefined => parents.get(node);

function children(node: Node): Node[] {
  const found: Node[] = [];
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) found.push(...value.filter(isNode));
    else if (isNode(value)) found.push(value);
  }
  return found;
}

const isNode = (value: { type?: unknown } | null | undefined): value is Node => typeof value?.type === "string";

/** The node and everything inside it, outermost first. `enter` returning false leaves a subtree out. */
export function walk(node: Node, enter: (node: Node) => unknown): void {
  if (enter(node) !== false) for (const child of children(node)) walk(child, enter);
}

/** Line and column of a position, both from 1. */
export function placeOf(text: string, position: number): { line: number; column: number } {
  const before = text.slice(0, position).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

export const isFunction = (node: Node | null | undefined): node is FunctionNode =>
  /^(Arrow)?Function(Declaration|Expression)$/.test(node?.type ?? "");
export const isClass = (node: Node): node is ClassNode => /^Class(Declaration|Expression)$/.test(node.type);

/** The name of a member or property where it can be read: `a.b`, `a["b"]`, `{ b: … }`. */
export function memberName(node: Node): string | undefined {
  const isMember = node.type === "MemberExpression";
  if (!isMember && node.type !== "Property" && node.type !== "MethodDefinition" && node.type !== "PropertyDefinition")
    return undefined;
  const key = (isMember ? node.property : node.key) as Node;
  if (key.type === "PrivateIdentifier") return `#${key.name}`;
  return !node.computed && key.type === "Identifier" ? key.name : literalText(key);
}

/** The text of a literal or of a template without expressions. */
export function literalText(node: Node): string | undefined {
  if (node.type === "Literal") return String(node.value);
  return node.type === "TemplateLiteral" && node.expressions.length === 0
    ? (node.quasis[0]?.value.cooked ?? undefined)
    : undefined;
}

/** The expressions that a function returns, not those of functions inside it. */
export function returned(node: FunctionNode): Node[] {
  if (node.body.type !== "BlockStatement") return [node.body];
  const found: Node[] = [];
  walk(node.body, (inner) => {
    if (inner.type === "ReturnStatement" && inner.argument) found.push(inner.argument);
    return !isFunction(inner);
  });
  return found;
}

/** The declaration of a name; undefined for globals, and for identifiers that are no names. */
export function declarationOf(identifier: Node): Declaration | undefined {
  if (identifier.type !== "Identifier") return undefined;
  for (let at = parentOf(identifier); at; at = parentOf(at)) {
    if (!isFunction(at) && at.type !== "Program") continue;
    const found = scopeOf(at).get(identifier.name);
    if (found) return found;
  }
  return undefined;
}

const scopes = new WeakMap<Node, Map<string, Declaration>>();

function scopeOf(owner: FunctionNode | Source["ast"]): Map<string, Declaration> {
  const known = scopes.get(owner);
  if (known) return known;
  const names = new Map<string, Declaration>();
  scopes.set(owner, names);
  const declare = (id: Node, kind: Declaration["kind"], node: Node | undefined) => {
    for (const { name, path } of namesIn(id)) if (!names.has(name)) names.set(name, { kind, node, pattern: id, path });
  };
  if (isFunction(owner)) for (const id of owner.params) declare(id, "parameter", owner);
  walk(owner, (node) => {
    if (node.type === "ImportDeclaration") for (const one of node.specifiers) declare(one.local, "import", one);
    if (node.type === "VariableDeclarator") {
      const loop = parentOf(parentOf(node) as Node);
      const node_ = node.init ?? (loop?.type === "ForOfStatement" ? loop.right : undefined);
      declare(node.id, "value", node_);
    }
    if (node.type === "CatchClause" && node.param) declare(node.param, "value", undefined);
    if ((isFunction(node) || isClass(node)) && node.id) {
      if (node !== owner || node.type === "FunctionExpression") declare(node.id, "value", node);
    }
    return node === owner || (!isFunction(node) && !isClass(node));
  });
  return names;
}

/** The names that a pattern declares, with the members that they stand for. */
function namesIn(pattern: Node, path: string[] | null = []): { name: string; path: string[] | null }[] {
  switch (pattern.type) {
    case "Identifier":
      return [{ name: pattern.name, path }];
    case "AssignmentPattern":
      return namesIn(pattern.left, path);
    case "RestElement":
      return namesIn(pattern.argument, path);
    case "ArrayPattern":
      return pattern.elements.flatMap((item) => (item ? namesIn(item, null) : []));
    case "ObjectPattern":
      return pattern.properties.flatMap((property) => {
        // A rest element has the object's members under the same names.
        if (property.type === "RestElement") return namesIn(property.argument, path);
        const name = memberName(property);
        return namesIn(property.value, name === undefined || !path ? null : [...path, name]);
      });
    default:
      return [];
  }
}

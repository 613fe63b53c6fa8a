/**
 * Parses one source file of an application. Types are replaced by blanks, so every position stays the same. Comments
 * are kept, for allow comments.
 * Next hop: `scopes.ts` says which name means what, `modules.ts` which files belong together.
 */
import { stripTypeScriptTypes } from "node:module";
import { type AnyNode, type Comment, type Program, parse } from "acorn";

export type Node = AnyNode;

export interface Parsed {
  path: string;
  text: string;
  ast: Program;
  comments: Comment[];
  /** The parent of each node. */
  parents: { get(node: Node): Node | undefined };
  /** All calls, in the order of the text. */
  calls: readonly CallNode[];
}

/** The file is not valid TypeScript without its types. `line` starts at 1. */
export class SyntaxProblem extends Error {
  readonly line: number;
  readonly column: number;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

/**
 * @param path types are removed in `.ts` and `.mts` files
 * @throws SyntaxProblem with the place
 */
export function parseSource(path: string, text: string): Parsed {
  const comments: Comment[] = [];
  const plain = /\.m?ts$/.test(path) ? withoutTypes(text) : text;
  try {
    const ast = parse(plain, {
      ecmaVersion: "latest",
      sourceType: "module",
      allowHashBang: true,
      onComment: comments,
    });
    return { path, text, ast, comments, parents, calls: survey(ast) };
  } catch (error) {
    const { loc, message } = error as { loc?: { line: number; column: number }; message: string };
    throw new SyntaxProblem(message.replace(/ \(\d+:\d+\)$/, ""), loc?.line ?? 1, (loc?.column ?? 0) + 1);
  }
}

/** Suppresses Node's warning that the function is experimental. */
function withoutTypes(text: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text, { mode: "strip" });
  } catch (error) {
    const { message, stack = "" } = error as Error;
    const [, line = "1"] = /^.*:(\d+)\n/.exec(stack) ?? [];
    const column = (stack.split("\n")[2]?.indexOf("^") ?? 0) + 1;
    throw new SyntaxProblem(message, Number(line), Math.max(column, 1));
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Calls back with a node's direct children, in source order. Allocates no lists, because this is the hot path. */
export function forChildren(node: Node, visit: (child: Node) => void): void {
  for (const key in node) {
    if (key === "up") continue;
    const value = (node as unknown as Record<string, unknown>)[key];
    if (typeof value !== "object" || value === null) continue;
    if (!Array.isArray(value)) {
      if (isNode(value)) visit(value);
    } else for (const item of value) if (isNode(item)) visit(item);
  }
}

/** The node and everything inside it, outermost first. `enter` returning false leaves a subtree out. */
export function walk(node: Node, enter: (node: Node) => unknown): void {
  if (enter(node) === false) return;
  forChildren(node, (child) => walk(child, enter));
}

const isNode = (value: object | null): value is Node => typeof (value as Node | null)?.type === "string";

/** Walks a new tree once: stores each node's parent in the node, and collects all calls. */
function survey(ast: Program): CallNode[] {
  const calls: CallNode[] = [];
  walk(ast, (node) => {
    if (node.type === "CallExpression" || node.type === "NewExpression") calls.push(node);
    forChildren(node, (child) => {
      (child as Inner).up = node;
    });
  });
  return calls;
}

type Inner = Node & { up?: Node };
const parents = { get: (node: Node): Node | undefined => (node as Inner).up };

/** Line and column of a position, both from 1. */
export function placeOf(text: string, position: number): { line: number; column: number } {
  const before = text.slice(0, position).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** `f()` or `new F()`. */
export type CallNode = Extract<Node, { type: "CallExpression" | "NewExpression" }>;

export type FunctionNode = Extract<
  Node,
  { type: "FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression" }
>;

export const isFunction = (node: Node | null | undefined): node is FunctionNode =>
  node?.type === "FunctionDeclaration" ||
  node?.type === "FunctionExpression" ||
  node?.type === "ArrowFunctionExpression";

/** The name of a member or property where it can be read: `a.b`, `a["b"]`, `{ b: … }`. */
export function memberName(node: Node): string | undefined {
  if (node.type === "MemberExpression") {
    if (!node.computed) return node.property.type === "Identifier" ? node.property.name : undefined;
    return literalText(node.property);
  }
  if (node.type !== "Property" && node.type !== "MethodDefinition" && node.type !== "PropertyDefinition") return;
  if (!node.computed && node.key.type === "Identifier") return node.key.name;
  return literalText(node.key);
}

/** The text of a literal or of a template without expressions. */
export function literalText(node: Node): string | undefined {
  if (node.type === "Literal") return node.value === undefined ? undefined : String(node.value);
  if (node.type === "TemplateLiteral" && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}

export type ClassNode = Extract<Node, { type: "ClassDeclaration" | "ClassExpression" }>;

export const isClass = (node: Node): node is ClassNode =>
  node.type === "ClassDeclaration" || node.type === "ClassExpression";

/** The expressions that a function returns, not those of functions inside it. */
export function returned(node: Node): Node[] {
  if (!isFunction(node)) return [];
  if (node.body.type !== "BlockStatement") return [node.body];
  const found: Node[] = [];
  walk(node.body, (inner) => {
    if (isFunction(inner)) return false;
    if (inner.type === "ReturnStatement" && inner.argument) found.push(inner.argument);
    return true;
  });
  return found;
}

/**
 * Allow comments: a block comment `svc-allow: reason: …; scope: …; owner: …; test: path` directly above the definition
 * of a handler or above the call that needs it. It is complete with four non-empty parts and an existing test file.
 * Next hop: `reach.ts` asks for the comment above each step it follows, `gate.ts` above each step of a call.
 */
import { existsSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Comment } from "acorn";
import { isFunction, type Node, type Place, parentOf, type Source } from "./source.ts";

/** `missing` is empty when the comment is complete. */
export interface Allow {
  missing: string[];
}

const parts = ["reason", "scope", "owner", "test"] as const;
const start = /^[\s*]*svc-allow\b:?/;

/** The allow comment directly above a place, or undefined. */
export function allowAbove(root: string, { file, node }: Place): Allow | undefined {
  if (file.comments.length === 0) return undefined;
  for (const position of startsAbove(node)) {
    const comment = commentsAbove(file, position).find(({ value }) => start.test(value));
    if (comment) return readAllow(root, comment);
  }
  return undefined;
}

function readAllow(root: string, comment: Comment): Allow {
  if (comment.type === "Line") return { missing: ["the form /* … */"] };
  const text = comment.value.replace(start, "").replaceAll(/^\s*\*/gm, "");
  const said = new Map<string, string>();
  // A part ends where the next begins, so a reason may contain semicolons.
  for (const [, name = "", value = ""] of text.matchAll(
    /(?:^|;)\s*(reason|scope|owner|test)\s*:([\s\S]*?)(?=;\s*(?:reason|scope|owner|test)\s*:|$)/g,
  )) {
    said.set(
      name,
      value
        .replaceAll(/\s+/g, " ")
        .replace(/[;\s]+$/, "")
        .trim(),
    );
  }
  const missing: string[] = parts.filter((part) => !/[\p{L}\p{N}]/u.test(said.get(part) ?? ""));
  const test = said.get("test");
  if (test && !missing.includes("test") && !isTestFile(root, test)) missing.push(`the file ${test} that test names`);
  return { missing };
}

function isTestFile(root: string, path: string): boolean {
  if (isAbsolute(path)) return false;
  const file = join(root, path);
  return existsSync(file) && statSync(file).isFile();
}

/**
 * The positions that a comment may stand above: those of the node and its parents, up to the statement. Inside a
 * function without a block, the search stops at the property or declarator that holds the function.
 */
function* startsAbove(node: Node): Iterable<number> {
  let crossed = false;
  for (let at: Node | undefined = node; at; at = parentOf(at)) {
    const parent = parentOf(at);
    yield at.start;
    if (isFunction(at)) crossed = true;
    if (at.type === "MethodDefinition" || at.type === "PropertyDefinition") return;
    if (at.type === "Property" && crossed) return;
    if (at.type === "VariableDeclarator" && parent?.type === "VariableDeclaration" && parent.declarations[0] !== at)
      return;
    if (parent?.type === "ArrayExpression" && crossed) return;
    if (/Statement$|Declaration$/.test(at.type) && !/^Export/.test(parent?.type ?? "")) return;
  }
}

/** The comments that end directly above a position, separated by only one line break. */
function commentsAbove(file: Source, position: number): Comment[] {
  const found: Comment[] = [];
  let edge = position;
  for (const comment of file.comments.toReversed()) {
    if (comment.end > edge) continue;
    if (!/^[^\S\n]*\n?[^\S\n]*$/.test(file.text.slice(comment.end, edge).replaceAll("\r", ""))) break;
    // A comment after code, on its line, belongs to that code.
    const before = file.text.slice(file.text.lastIndexOf("\n", comment.start - 1) + 1, comment.start);
    if (/\S/.test(before) && file.text.slice(comment.end, edge).includes("\n")) break;
    found.push(comment);
    edge = comment.start;
  }
  return found;
}

/**
 * Properties of an expression that follow from its place in the file, without resolving names.
 * Next hop: `resolve.ts` follows them.
 */
import { type ClassNode, isClass, isFunction, memberName, type Node } from "./parse.ts";
import type { SourceFile, Write } from "./scopes.ts";

export const overlap = (written: string[], asked: string[]): boolean =>
  written.slice(0, asked.length).every((name, index) => name === asked[index]);

/**
 * Whether a written value may be code. Inside functions most writes store data, such as rows in a cache, so the result
 * of a call on a local value counts as data.
 */
export function isCode({ node, file }: Write): boolean {
  let around = file.parents.get(node);
  while (around && !isFunction(around)) around = file.parents.get(around);
  if (!around) return true;
  let called = false;
  let root = node;
  for (;;) {
    if (root.type === "CallExpression") {
      called = true;
      root = root.callee as Node;
    } else if (root.type === "MemberExpression") root = root.object as Node;
    else if (root.type === "AwaitExpression") root = root.argument;
    else if (root.type === "Identifier") {
      const binding = file.bindings.get(root);
      if (binding?.kind === "parameter") return !called;
      if (binding && file.top.get(binding.name) === binding) return true;
      const init = binding?.declaration.type === "VariableDeclarator" ? binding.declaration.init : undefined;
      if (!init || init.start <= around.start) return !called;
      root = init;
    } else return !called && root.type !== "Literal" && root.type !== "TemplateLiteral";
  }
}

/** `Object.freeze` and `Object.seal` return their argument. */
export const isFreeze = (callee: Node): boolean =>
  callee.type === "MemberExpression" &&
  callee.object.type === "Identifier" &&
  callee.object.name === "Object" &&
  ["freeze", "seal"].includes(memberName(callee) ?? "");

/** The object literal or class whose method says `this`. */
export function ownerOfThis(node: Node, file: SourceFile): Node | undefined {
  for (let at: Node | undefined = node; at; at = file.parents.get(at)) {
    const parent = file.parents.get(at);
    if (parent && isClass(parent)) return parent;
    if (at.type === "FunctionDeclaration") return undefined;
    if (at.type !== "FunctionExpression") continue;
    if (parent?.type === "Property") return file.parents.get(parent);
    if (parent?.type !== "MethodDefinition") return undefined;
  }
  return undefined;
}

export function membersOf(node: Node): Node[] {
  if (node.type === "ArrayExpression") {
    return node.elements.flatMap((item) => (item ? [item.type === "SpreadElement" ? item.argument : item] : []));
  }
  if (node.type !== "ObjectExpression") return [];
  return node.properties.map((item) => (item.type === "SpreadElement" ? item.argument : item.value));
}

export function staticField(node: ClassNode, name: string | undefined): Node | undefined {
  const found = node.body.body.find(
    (member) => member.type === "PropertyDefinition" && member.static && memberName(member) === name,
  );
  return found?.type === "PropertyDefinition" ? (found.value ?? undefined) : undefined;
}

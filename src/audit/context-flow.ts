/**
 * Follows the context through the code of a handler's file. It must not go where the file does not show which members
 * are used: to a computed name, into something that outlives the call, or into a package. That is told early here; what
 * it could reach is closed to the call anyway (`src/postgres/anonymous-gate.ts`).
 */
import {
  type Declaration,
  declarationOf,
  type FunctionNode,
  isClass,
  isTop,
  memberName,
  type Node,
  type Place,
  returned,
  type Source,
  walk,
} from "./source.ts";
import { importOf, isOwn } from "./uses.ts";
import { ownerOfThis, type Values } from "./values.ts";

/** `call` has the context as a member, `box` may have it as any member. */
type Holds = "call" | "context" | "box" | undefined;

const computed = "reads a member of the context under a name that is computed";
const keeps = "keeps the context in something that outlives the call";

/** Calls that only read an object's keys, or print it. */
const harmless =
  /^(console|JSON|Boolean|String|Promise|Error|Array|Map|Set|WeakMap|Object\.(keys|assign|create|freeze|is|hasOwn))\b/;

export class ContextFlow {
  readonly leaks = new Map<Node, Place & { what: string }>();
  readonly #values: Values;
  readonly #held = new Map<Declaration | Node, Holds>();
  readonly #returning = new Set<Node>();
  #changed = true;

  /**
   * @param entries the handler's function and its middleware
   * @param regions all reached code that no comment covers
   */
  constructor(values: Values, entries: readonly Place[], regions: readonly Place[]) {
    this.#values = values;
    for (const entry of entries)
      for (const { node, file } of values.functions(entry)) this.#enter(node, file, ["call"]);
    for (let round = 0; round < 8 && this.#changed; round++) {
      this.#changed = false;
      for (const { node, file } of regions) walk(node, (inner) => this.#follow(inner, file));
    }
  }

  #leak(node: Node, file: Source, what: string): void {
    this.leaks.set(node, { node, file, what });
  }

  #hold(at: Declaration | Node | undefined, holds: Holds): void {
    if (!at || !holds || this.#held.get(at) === holds || this.#held.get(at) === "box") return;
    this.#held.set(at, this.#held.has(at) ? "box" : holds);
    this.#changed = true;
  }

  #enter(node: FunctionNode, file: Source, holds: Holds[], args: (Node | undefined)[] = []): void {
    for (const [index, parameter] of node.params.entries()) {
      if (parameter.type === "RestElement")
        this.#bind(parameter, holds.slice(index).some(Boolean) ? "box" : undefined, file);
      else this.#bind(parameter, holds[index], file, args[index]);
    }
  }

  /** @param value the bound expression: a literal's members are known one by one */
  #bind(pattern: Node, holds: Holds, file: Source, value?: Node): void {
    if (!holds) return;
    if (pattern.type === "Identifier") this.#hold(declarationOf(pattern), holds);
    else if (pattern.type === "AssignmentPattern") this.#bind(pattern.left, holds, file, value);
    else if (pattern.type === "RestElement") this.#bind(pattern.argument, holds, file);
    else if (pattern.type === "ArrayPattern")
      for (const item of pattern.elements) item && this.#bind(item, holds, file);
    else if (pattern.type === "ObjectPattern") {
      for (const property of pattern.properties) {
        if (property.type === "RestElement") {
          this.#bind(property.argument, holds, file);
          continue;
        }
        const name = memberName(property);
        if (name === undefined && holds === "context") this.#leak(property, file, computed);
        const same =
          value?.type === "ObjectExpression"
            ? value.properties.find((one) => one.type === "Property" && memberName(one) === name)
            : undefined;
        if (same?.type === "Property") this.#bind(property.value, this.#of(same.value, file), file, same.value);
        else this.#bind(property.value, name === undefined ? "box" : memberOf(holds, name), file);
      }
    }
  }

  #follow(node: Node, file: Source): void {
    if (node.type === "VariableDeclarator" && node.init)
      this.#bind(node.id, this.#of(node.init, file), file, node.init);
    if (node.type === "AssignmentExpression") this.#assign(node.left, this.#of(node.right, file), file);
    if (node.type === "MemberExpression" && node.computed && memberName(node) === undefined) {
      const holds = this.#of(node.object as Node, file);
      if (
        (holds === "context" || holds === "box") &&
        this.#values.constant({ node: node.property, file }) === undefined
      )
        this.#leak(node, file, computed);
    }
    if (node.type === "CallExpression" || node.type === "NewExpression") this.#call(node, file);
  }

  #assign(target: Node, holds: Holds, file: Source): void {
    if (!holds) return;
    let root = target;
    while (root.type === "MemberExpression") root = root.object as Node;
    const declaration = declarationOf(root);
    const isLocal = root.type !== "Identifier" || (declaration && !isTop(declaration));
    if (root.type === "ThisExpression") this.#hold(ownerOfThis(root), "box");
    else if (!isLocal) this.#leak(target, file, keeps);
    else if (target === root) this.#bind(target, holds, file);
    else this.#hold(declaration, "box");
  }

  #call(node: Extract<Node, { type: "CallExpression" | "NewExpression" }>, file: Source): void {
    const args = node.arguments.map((one) => (one.type === "SpreadElement" ? one.argument : one) as Node);
    const holds = args.map((one) => this.#of(one, file));
    const callee = node.callee as Node;
    const receiver = callee.type === "MemberExpression" ? this.#of(callee.object as Node, file) : undefined;
    // `[context].map((c) => …)`, `promise.then((c) => …)`: what a box holds is passed to the function.
    if (receiver === "box") {
      for (const one of args)
        for (const { node: called, file: home } of this.#values.functions({ node: one, file }))
          this.#enter(
            called,
            home,
            called.params.map(() => "box"),
          );
    }
    if (!holds.some(Boolean)) return;
    const functions = this.#values.functions({ node: callee, file });
    for (const called of functions) this.#enter(called.node, called.file, holds, args);
    if (functions.length > 0) return;
    const text = file.text.slice(callee.start, callee.end);
    let root: Node = callee;
    while (root.type === "MemberExpression" || root.type === "NewExpression")
      root = (root.type === "NewExpression" ? root.callee : root.object) as Node;
    const from = importOf(root)?.from;
    const declaration = declarationOf(root);
    if (from !== undefined) {
      if (!isOwn(from) && from !== "@svc/core")
        this.#leak(node, file, `hands the context to "${from}", which is not read`);
    } else if (!declaration && root.type === "Identifier") {
      if (!harmless.test(text)) this.#leak(node, file, `hands the context to ${text}`);
      if (text === "Object.assign" && args[0]) this.#assign(args[0], holds.find(Boolean), file);
    } else if (!declaration || isTop(declaration)) {
      const known = this.#values
        .of({ node: callee, file })
        .some((one) => isClass(one.node) || isOwn(importOf(one.node)?.from ?? ""));
      if (!known) this.#leak(node, file, "hands the context to something that cannot be followed");
    } else if (root !== callee && declaration.kind === "value") this.#hold(declaration, "box");
  }

  #of(node: Node, file: Source, depth = 0): Holds {
    const inner = (next: Node) => this.#of(next, file, depth + 1);
    const some = (nodes: readonly (Node | null)[], as: Holds = "box"): Holds =>
      nodes.some((one) => one && inner(one.type === "SpreadElement" ? one.argument : one)) ? as : undefined;
    if (depth > 12) return undefined;
    switch (node.type) {
      case "Identifier": {
        const declaration = declarationOf(node);
        return declaration && this.#held.get(declaration);
      }
      case "ThisExpression": {
        const owner = ownerOfThis(node);
        return owner && this.#held.get(owner);
      }
      case "MemberExpression":
        return memberOf(inner(node.object as Node), memberName(node));
      case "ArrayExpression":
        return some(node.elements);
      case "ObjectExpression": {
        const spread = node.properties.find((one) => one.type === "SpreadElement" && inner(one.argument));
        if (spread?.type === "SpreadElement") return inner(spread.argument);
        const members = node.properties.flatMap((one) =>
          one.type === "Property" && inner(one.value) ? [memberName(one)] : [],
        );
        return members.length === 0 ? undefined : members.join() === "context" ? "call" : "box";
      }
      case "ConditionalExpression":
        return inner(node.consequent) ?? inner(node.alternate);
      case "LogicalExpression":
        return inner(node.left as Node) ?? inner(node.right);
      case "AssignmentExpression":
        return inner(node.right);
      case "AwaitExpression":
        return inner(node.argument);
      case "ChainExpression":
        return inner(node.expression);
      case "NewExpression":
      case "CallExpression":
        return this.#result(node, file, inner, some);
      default:
        return undefined;
    }
  }

  #result(
    node: Extract<Node, { type: "CallExpression" | "NewExpression" }>,
    file: Source,
    inner: (node: Node) => Holds,
    some: (nodes: readonly (Node | null)[], as?: Holds) => Holds,
  ): Holds {
    const callee = node.callee as Node;
    const text = file.text.slice(callee.start, callee.end);
    if (/^Object\.(assign|create|freeze)$/.test(text)) return some(node.arguments, "context");
    if (node.type === "NewExpression") {
      const made = this.#values.of({ node: callee, file }).filter((one) => isClass(one.node));
      return made.some((one) => this.#held.has(one.node)) || (made.length === 0 && some(node.arguments))
        ? "box"
        : undefined;
    }
    const functions = this.#values.functions({ node: callee, file });
    for (const called of functions) {
      if (this.#returning.has(called.node)) continue;
      this.#returning.add(called.node);
      const found = returned(called.node)
        .map((one) => this.#of(one, called.file))
        .find(Boolean);
      this.#returning.delete(called.node);
      if (found) return found;
    }
    if (functions.length > 0 || callee.type !== "MemberExpression") return undefined;
    // Lists, maps and promises keep their arguments: `Promise.all([…])`, `list.find(…)`.
    if (/^(Promise|Array)\./.test(text)) return some(node.arguments);
    return inner(callee.object as Node) === "box" ? "box" : undefined;
  }
}

const memberOf = (holds: Holds, name: string | undefined): Holds =>
  holds === "box" ? "box" : holds === "call" && (name === "context" || name === undefined) ? "context" : undefined;

/**
 * Follows the context into parameters, variables and objects. It must not go where the audit cannot see which members
 * are used: to a computed name, into something that outlives the call, or into a package. Names need no following:
 * `uses.ts` finds `unsafeDb` by name anywhere.
 */
import type { Code } from "./builders.ts";
import { anyOf, bounded, memberOf, merge, some, type Value } from "./context-value.ts";
import { type FunctionNode, isClass, isFunction, memberName, type Node, returned, walk } from "./parse.ts";
import type { Place } from "./report.ts";
import type { Resolver } from "./resolve.ts";
import type { Binding, SourceFile } from "./scopes.ts";
import { ownerOfThis } from "./syntax.ts";

export interface Leak extends Place {
  what: string;
}

const computed = "reads a member of the context under a name that is computed";
const keeps = "keeps the context in something that outlives the call";

/** The argument of a handler or middleware. */
const call: Value = { context: "context" };

/** Calls that only read an object's keys, or print it. */
const harmless = /^(console|JSON|Boolean|String|Promise|Error|Object\.(keys|assign|create|freeze|is|hasOwn))\b/;

export class ContextFlow {
  readonly #resolver: Resolver;
  readonly #values = new Map<Binding, Value>();
  /** The values in fields of classes and object literals. */
  readonly #fields = new Map<Node, Value>();
  readonly #returned = new Map<FunctionNode, Value>();
  readonly #leaks = new Map<Node, Leak>();
  #changed = false;

  constructor(resolver: Resolver) {
    this.#resolver = resolver;
  }

  /**
   * @param entries the handler's function and its middleware
   * @param regions all reached code that no comment covers
   */
  leaks(entries: readonly Code[], regions: readonly Code[]): Leak[] {
    for (const { node, file, given } of entries) {
      for (const entry of this.#resolver.functions(node, file, given)) this.#enter(entry.node, entry.file, [call]);
    }
    // Values only grow, up to a bound, so a few rounds suffice.
    for (let round = 0; round < 12; round++) {
      this.#changed = false;
      this.#returned.clear();
      for (const { node, file } of regions) walk(node, (inner) => this.#follow(inner, file));
      if (!this.#changed) break;
    }
    return [...this.#leaks.values()];
  }

  #enter(node: FunctionNode, file: SourceFile, values: Value[]): void {
    for (const [index, parameter] of node.params.entries()) {
      const value =
        parameter.type === "RestElement" ? some(values.slice(index).reduce(merge, undefined)) : values[index];
      this.#pattern(parameter, file, value);
    }
  }

  #bind(binding: Binding, value: Value): void {
    const before = this.#values.get(binding);
    const after = bounded(merge(before, value));
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    this.#values.set(binding, after);
    this.#changed = true;
  }

  #leak(node: Node, file: SourceFile, what: string): void {
    this.#leaks.set(node, { node, file, what });
  }

  #follow(node: Node, file: SourceFile): void {
    switch (node.type) {
      case "VariableDeclarator":
        if (node.init) this.#pattern(node.id, file, this.#value(node.init, file));
        return;
      case "AssignmentExpression": {
        const value = this.#value(node.right, file);
        if (value === undefined) return;
        if (this.#outlives(node.left, file)) this.#leak(node, file, keeps);
        else if (node.left.type === "MemberExpression") this.#keep(node.left, file, value);
        else this.#pattern(node.left, file, value);
        return;
      }
      case "MemberExpression":
        if (memberName(node) === undefined && node.computed && this.#value(node.object as Node, file) === "context") {
          if (this.#resolver.constant(node.property, file) === undefined) this.#leak(node, file, computed);
        }
        return;
      case "CallExpression":
      case "NewExpression":
        this.#call(node, file);
    }
  }

  /** Assigns the parts of a value to the names in a pattern. */
  #pattern(pattern: Node, file: SourceFile, value: Value): void {
    if (value === undefined) return;
    const next = (inner: Node, part: Value) => this.#pattern(inner, file, part);
    switch (pattern.type) {
      case "Identifier": {
        const binding = file.declared.get(pattern) ?? file.bindings.get(pattern);
        if (binding) this.#bind(binding, value);
        return;
      }
      case "AssignmentPattern":
        next(pattern.left, value);
        return;
      case "RestElement":
        next(pattern.argument, value);
        return;
      case "ArrayPattern":
        for (const item of pattern.elements) if (item) next(item, anyOf(value));
        return;
      case "ObjectPattern":
        for (const property of pattern.properties) {
          if (property.type === "RestElement") {
            next(property, value);
            continue;
          }
          const name = memberName(property);
          const unclear = name === undefined && this.#resolver.constant(property.key, file) === undefined;
          if (unclear && value === "context") this.#leak(property, file, computed);
          next(property.value, name === undefined ? anyOf(value) : memberOf(value, name));
        }
    }
  }

  /** `local.member = value`, `this.member = value`. */
  #keep(target: Node, file: SourceFile, value: Value): void {
    let held = value;
    let root = target;
    for (; root.type === "MemberExpression"; root = root.object as Node) held = { [memberName(root) ?? "?"]: held };
    const binding = file.bindings.get(root);
    if (binding) this.#bind(binding, held);
    const owner = root.type === "ThisExpression" ? ownerOfThis(root, file) : undefined;
    if (!owner) return;
    const before = this.#fields.get(owner);
    const after = bounded(merge(before, held));
    if (JSON.stringify(before) !== JSON.stringify(after)) this.#changed = true;
    this.#fields.set(owner, after);
  }

  #call(node: Extract<Node, { type: "CallExpression" | "NewExpression" }>, file: SourceFile): void {
    const values = node.arguments.map((argument) =>
      argument.type === "SpreadElement" ? this.#value(argument.argument, file) : this.#value(argument, file),
    );
    const callee = node.callee as Node;
    this.#callback(node, file);
    if (values.every((value) => value === undefined)) return;
    const [target] = node.arguments;
    if (/^Object\.assign$/.test(file.text.slice(callee.start, callee.end)) && target && this.#outlives(target, file)) {
      this.#leak(node, file, keeps);
    }
    const functions = this.#resolver.functions(callee, file);
    for (const called of functions) this.#enter(called.node, called.file, values);
    if (functions.length > 0) return;

    for (const origin of this.#resolver.origins(callee, file)) {
      if (origin.kind === "package" && origin.from !== "@svc/core") {
        this.#leak(node, file, `hands the context to "${origin.from}", which the audit does not read`);
      } else if (origin.kind === "global" && !harmless.test([origin.name, ...origin.path].join("."))) {
        this.#leak(node, file, `hands the context to ${[origin.name, ...origin.path].join(".")}`);
      } else if (origin.kind === "unknown" && origin.tooFar) {
        this.#leak(node, file, "hands the context to something that the audit cannot follow");
      } else if (origin.kind === "node" && !isClass(origin.node) && !this.#isLocal(callee, file)) {
        this.#leak(node, file, "hands the context to something that the audit cannot follow");
      }
    }
    // A call of a parameter: a middleware's `next` leads to the next step; others must be known functions.
    if (callee.type !== "Identifier" && callee.type !== "MemberExpression" && !isFunction(callee)) {
      this.#leak(node, file, "hands the context to something that the audit cannot follow");
    }
  }

  /** `[context].map((c) => …)`, `promise.then((c) => …)`: the items of a list or promise are passed to the function. */
  #callback(
    { callee, arguments: args }: Extract<Node, { type: "CallExpression" | "NewExpression" }>,
    file: SourceFile,
  ): void {
    const holder = callee.type === "MemberExpression" ? this.#value(callee.object as Node, file) : undefined;
    if (typeof holder !== "object") return;
    for (const argument of args) {
      for (const called of this.#resolver.functions(argument, file)) {
        this.#enter(
          called.node,
          called.file,
          called.node.params.map(() => anyOf(holder)),
        );
      }
    }
  }

  /** A method of a value created inside the function, such as a list: the argument stays local. */
  #isLocal(callee: Node, file: SourceFile): boolean {
    if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return false;
    const binding = file.bindings.get(callee.object);
    return binding !== undefined && file.top.get(binding.name) !== binding && binding.kind !== "import";
  }

  /** The return value of a function, computed once per round. */
  #returns(node: FunctionNode, file: SourceFile): Value {
    if (!this.#returned.has(node)) {
      this.#returned.set(node, undefined);
      const values = returned(node).map((result) => this.#value(result, file));
      this.#returned.set(node, values.reduce(merge, undefined));
    }
    return this.#returned.get(node);
  }

  #held(args: readonly Node[], file: SourceFile): Value {
    return some(args.map((argument) => this.#value(argument, file, 1)).reduce(merge, undefined));
  }

  /** Whether the target of an assignment is a global or a top-level variable of a file. */
  #outlives(target: Node, file: SourceFile): boolean {
    let root = target;
    while (root.type === "MemberExpression") root = root.object as Node;
    if (root.type !== "Identifier") return false;
    const binding = file.bindings.get(root);
    return !binding || binding.kind === "import" || file.top.get(binding.name) === binding;
  }

  #value(node: Node, file: SourceFile, depth = 0): Value {
    const inner = (next: Node) => this.#value(next, file, depth + 1);
    if (depth > 12) return undefined;
    switch (node.type) {
      case "Identifier": {
        const binding = file.bindings.get(node);
        return binding && this.#values.get(binding);
      }
      case "MemberExpression": {
        const object = inner(node.object as Node);
        const name = memberName(node);
        return name === undefined ? anyOf(object === "context" ? undefined : object) : memberOf(object, name);
      }
      case "ThisExpression": {
        const owner = ownerOfThis(node, file);
        return owner && this.#fields.get(owner);
      }
      case "NewExpression":
        return this.#resolver
          .origins(node.callee as Node, file)
          .map((origin) => (origin.kind === "node" ? this.#fields.get(origin.node) : this.#held(node.arguments, file)))
          .reduce(merge, undefined);
      case "ObjectExpression":
        return node.properties.reduce<Value>((whole, property) => {
          if (property.type === "SpreadElement") return merge(whole, inner(property.argument));
          const value = inner(property.value);
          return value === undefined ? whole : merge(whole, { [memberName(property) ?? "?"]: value });
        }, undefined);
      case "ArrayExpression":
        return node.elements.reduce<Value>((whole, item) => {
          const value = item && inner(item.type === "SpreadElement" ? item.argument : item);
          return value ? merge(whole, some(value)) : whole;
        }, undefined);
      case "ConditionalExpression":
        return merge(inner(node.consequent), inner(node.alternate));
      case "LogicalExpression":
        return merge(inner(node.left as Node), inner(node.right));
      case "AssignmentExpression":
        return inner(node.right);
      case "AwaitExpression": {
        const value = inner(node.argument);
        return typeof value === "object" ? merge(value, value["?"]) : value;
      }
      case "ChainExpression":
        return inner(node.expression);
      case "SequenceExpression":
        return node.expressions.map(inner).at(-1);
      case "CallExpression": {
        if (/^Object\.(assign|create|freeze)$/.test(file.text.slice(node.callee.start, node.callee.end))) {
          return node.arguments.map((argument) => inner(argument as Node)).reduce(merge, undefined);
        }
        const functions = this.#resolver.functions(node.callee as Node, file);
        if (functions.length > 0) {
          return functions.map((called) => this.#returns(called.node, called.file)).reduce(merge, undefined);
        }
        // Lists, maps and promises keep their arguments: `Promise.all([…])`, `list.find(…)`.
        const { callee } = node;
        if (callee.type !== "MemberExpression") return undefined;
        const holder = inner(callee.object as Node);
        if (typeof holder === "object") return merge(holder, anyOf(holder));
        return callee.object.type === "Identifier" && /^(Promise|Array)$/.test(callee.object.name)
          ? this.#held(node.arguments, file)
          : undefined;
      }
      default:
        return undefined;
    }
  }
}

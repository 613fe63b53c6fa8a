/**
 * Finds the origins of a value: follows names, imports, members, destructuring and parameters back to the expressions
 * that create it. There is no type checker: all possible values are returned.
 * Next hop: `builders.ts`, `reach.ts` and `context-flow.ts` ask here.
 */
import { bindingTarget, exportNames, exportTarget, type Modules, moduleTarget, type Target } from "./modules.ts";
import {
  type Arguments,
  type Callable,
  type CallSite,
  noArguments,
  nothingSeen,
  type Origin,
  type Seen,
} from "./origin.ts";
import {
  type ClassNode,
  type FunctionNode,
  isClass,
  isFunction,
  literalText,
  memberName,
  type Node,
  returned,
} from "./parse.ts";
import type { Binding, SourceFile, Write } from "./scopes.ts";
import { isCode, isFreeze, membersOf, overlap, ownerOfThis, staticField } from "./syntax.ts";
import { readText } from "./text.ts";

export class Resolver {
  readonly modules: Modules;
  #calls: Map<FunctionNode, CallSite[]> | undefined;
  /** Whether that list is complete. Results are not cached before. */
  #listed = false;
  readonly #known = new Map<Node, Origin[]>();

  constructor(modules: Modules) {
    this.modules = modules;
    // Writes in other files to an imported value belong to that value.
    for (const file of modules.files.values()) {
      for (const binding of file.top.values()) {
        if (binding.kind !== "import" || binding.writes.length === 0) continue;
        const target = bindingTarget(modules, binding);
        if (target.kind === "binding") target.binding.writes.push(...binding.writes);
      }
    }
  }

  /** @param path members taken of the expression, outermost last */
  origins(node: Node, file: SourceFile, taken: string[] = [], given = noArguments, seen = nothingSeen()): Origin[] {
    // `node = node.parent` would never end, so deeper members count as the whole.
    const path = taken.length > 4 ? taken.slice(0, 4) : taken;
    const plain = path.length === 0 && given.size === 0 && seen.steps === 0;
    const known = plain ? this.#known.get(node) : undefined;
    if (known) return known;
    const before = seen.nodes.get(node);
    const members = path.join(".");
    if (before?.includes(members)) return [];
    // So many places cannot be followed and would overflow the stack.
    if (seen.steps++ > 800) return [{ kind: "unknown", tooFar: true }];
    if (before) before.push(members);
    else seen.nodes.set(node, [members]);

    const found = this.#follow(node, file, path, given, seen);
    if (plain && (this.#listed || !this.#calls)) this.#known.set(node, found);
    return found;
  }

  #follow(node: Node, file: SourceFile, path: string[], given: Arguments, seen: Seen): Origin[] {
    const again = (inner: Node, members = path) => this.origins(inner, file, members, given, seen);

    switch (node.type) {
      case "Identifier":
        return this.#identifier(node, file, path, given, seen);
      case "MemberExpression": {
        const name = memberName(node);
        return again(node.object as Node, name === undefined ? [] : [name, ...path]);
      }
      case "ConditionalExpression":
        return [...again(node.consequent), ...again(node.alternate)];
      case "LogicalExpression":
        return [...again(node.left as Node), ...again(node.right)];
      case "SequenceExpression":
        return node.expressions.slice(-1).flatMap((last) => again(last));
      case "AssignmentExpression":
        return again(node.right);
      case "AwaitExpression":
        return again(node.argument);
      case "ChainExpression":
        return again(node.expression);
      case "ImportExpression": {
        const from = literalText(node.source);
        if (from === undefined) return [{ kind: "unknown" }];
        return this.target(moduleTarget(this.modules, file, from), path, given, seen);
      }
      case "ThisExpression": {
        const owner = ownerOfThis(node, file);
        return owner ? again(owner) : [{ kind: "unknown" }];
      }
      case "ObjectExpression":
        return this.#member(node, file, path, given, seen);
      case "CallExpression": {
        if (isFreeze(node.callee as Node) && node.arguments[0]) return again(node.arguments[0]);
      }
    }
    return [{ kind: "node", node, file, path }];
  }

  /** The origins of an import or export target. */
  target(target: Target, path: string[], given = noArguments, seen = nothingSeen()): Origin[] {
    switch (target.kind) {
      case "binding":
        return this.binding(target.binding, path, given, seen);
      case "expression":
        return this.origins(target.node, target.file, path, given, seen);
      case "package":
        if (target.name !== "*") return [{ ...target, path }];
        return [{ kind: "package", from: target.from, name: path[0] ?? "*", path: path.slice(1) }];
      case "namespace": {
        const [name, ...rest] = path;
        if (name === undefined) return [{ kind: "namespace", file: target.file }];
        return this.target(exportTarget(this.modules, target.file, name), rest, given, seen);
      }
      case "nothing":
        return [{ kind: "unknown" }];
    }
  }

  /** Everything that a whole file exports. */
  exportsOf(file: SourceFile): Origin[] {
    return [...exportNames(this.modules, file)].flatMap((name) =>
      this.target(exportTarget(this.modules, file, name), []),
    );
  }

  binding(binding: Binding, path: string[], given = noArguments, seen = nothingSeen()): Origin[] {
    const { file, declaration } = binding;
    const defaults = binding.defaults.flatMap((node) => this.origins(node, file, path, given, seen));
    const writes = binding.writes
      .filter((write) => overlap(write.path, path) && isCode(write))
      .flatMap((write) => this.#written(write, path, given, seen));
    const more = [...defaults, ...writes];

    if (binding.kind === "import") return this.target(bindingTarget(this.modules, binding), path, given, seen);
    if (binding.kind === "function" || binding.kind === "class") {
      const field = isClass(declaration) ? staticField(declaration, path[0]) : undefined;
      if (field) return [...this.origins(field, file, path.slice(1), given, seen), ...more];
      return [{ kind: "node", node: declaration, file, path }, ...more];
    }
    if (binding.kind === "parameter") return [...this.#parameter(binding, path, given, seen), ...more];
    if (binding.kind === "other" || declaration.type !== "VariableDeclarator") return [{ kind: "unknown" }, ...more];

    const members = binding.path ? [...binding.path, ...path] : [];
    if (declaration.init) return [...this.origins(declaration.init, file, members, given, seen), ...more];
    const loop = file.parents.get(file.parents.get(declaration) ?? declaration);
    if (loop?.type === "ForOfStatement") return [...this.origins(loop.right, file, [], given, seen), ...more];
    return more;
  }

  /** The origins of a written value. If they are unknown, the written expression itself, for its names. */
  #written({ node, file, path: at, whole }: Write, path: string[], given: Arguments, seen: Seen): Origin[] {
    const found = this.origins(node, file, whole ? [] : path.slice(at.length), given, seen);
    if (found.some(({ kind }) => kind !== "unknown")) return found;
    const binding = node.type === "Identifier" ? file.bindings.get(node) : undefined;
    const { declaration, index } = binding ?? {};
    const said = isFunction(declaration) && index !== undefined ? declaration.params[index] : (declaration ?? node);
    return said ? [...found, { kind: "node", node: said, file, path: [] }] : found;
  }

  /** The possible functions of an expression, including those that the application's own functions return. */
  functions(node: Node, file: SourceFile, given = noArguments, seen = new Set<Node>()): Callable[] {
    if (seen.has(node)) return [];
    seen.add(node);
    return this.origins(node, file, [], given).flatMap((origin): Callable[] => {
      if (origin.kind !== "node") return [];
      const { node: value, file: home, path } = origin;
      if (isFunction(value)) {
        const plain = path.length === 0 || ["call", "apply", "bind"].includes(path[0] ?? "");
        return plain ? [{ node: value, file: home }] : [];
      }
      if (isClass(value)) return this.#methods(value, home, path[0] ?? "constructor");
      if (value.type === "NewExpression" && path[0]) return this.#methodsOfNew(value, home, path[0]);
      if (path.length === 0) {
        // Any item of a list or object: `steps[index]`, `for (const step of steps)`.
        const held = membersOf(value);
        if (held.length > 0) return held.flatMap((item) => this.functions(item, home, given, seen));
      }
      if (value.type !== "CallExpression" || path.length > 1) return [];

      const callee = value.callee as Node;
      if (callee.type === "MemberExpression" && memberName(callee) === "bind") {
        return this.functions(callee.object as Node, home, given, seen);
      }
      return this.functions(callee, home, given, seen).flatMap((called) =>
        returned(called.node).flatMap((result) => {
          const [name] = path;
          const made = this.origins(result, called.file, name === undefined ? [] : [name], given);
          return made.flatMap((inner) =>
            inner.kind === "node" ? this.functions(inner.node, inner.file, given, seen) : [],
          );
        }),
      );
    });
  }

  #methods(node: ClassNode, file: SourceFile, name: string): Callable[] {
    const own = node.body.body.flatMap((member): Callable[] => {
      if (member.type === "StaticBlock" || memberName(member) !== name) return [];
      return member.value && isFunction(member.value) ? [{ node: member.value, file }] : [];
    });
    if (own.length > 0 || !node.superClass) return own;
    return this.origins(node.superClass, file).flatMap((base) =>
      base.kind === "node" && isClass(base.node) && base.node !== node ? this.#methods(base.node, base.file, name) : [],
    );
  }

  #methodsOfNew(node: Extract<Node, { type: "NewExpression" }>, file: SourceFile, name: string): Callable[] {
    return this.origins(node.callee as Node, file).flatMap((made) =>
      made.kind === "node" && isClass(made.node) ? this.#methods(made.node, made.file, name) : [],
    );
  }

  /** A text as far as it can be read; null for the parts that cannot. */
  text(node: Node, file: SourceFile, given = noArguments): (string | null)[] {
    return readText(this, node, file, given);
  }

  /** The text where all of it can be read. */
  constant(node: Node, file: SourceFile, given = noArguments): string | undefined {
    const [text, ...more] = this.text(node, file, given);
    return more.length === 0 && typeof text === "string" ? text : undefined;
  }

  /** Where a function is called, in the whole application. */
  calls(node: FunctionNode): readonly CallSite[] {
    if (!this.#calls) {
      // In the first round, callees that are parameters stay unknown; the second round uses the first one's list.
      this.#calls = new Map();
      this.#noteCalls(() => true);
      this.#noteCalls((callee, file) => file.bindings.get(callee)?.kind === "parameter");
      this.#listed = true;
    }
    return this.#calls.get(node) ?? [];
  }

  #noteCalls(wanted: (callee: Node, file: SourceFile) => boolean): void {
    for (const file of this.modules.files.values()) {
      for (const call of file.calls) {
        const callee = call.callee as Node;
        if (!wanted(callee, file)) continue;
        for (const { node } of this.functions(callee, file)) this.#noteCall(node, { node: call, file });
      }
    }
  }

  #noteCall(called: FunctionNode, site: CallSite): void {
    const sites = this.#calls?.get(called);
    if (sites) sites.push(site);
    else this.#calls?.set(called, [site]);
  }

  #identifier(node: Node, file: SourceFile, path: string[], given: Arguments, seen: Seen): Origin[] {
    const binding = file.bindings.get(node);
    if (binding) return this.binding(binding, path, given, seen);
    return [{ kind: "global", name: (node as { name: string }).name, path }];
  }

  #parameter(binding: Binding, path: string[], given: Arguments, seen: Seen): Origin[] {
    const members = binding.path ? [...binding.path, ...path] : [];
    const known = given.get(binding);
    if (known) return this.origins(known.node, known.file, members, known.given, seen);
    const from = this.calls(binding.declaration as FunctionNode).flatMap(({ node, file }) => {
      const argument = node.arguments[binding.index];
      return argument ? this.origins(argument, file, members, given, seen) : [];
    });
    return from.length > 0 ? from : [{ kind: "unknown" }];
  }

  #member(node: Node, file: SourceFile, path: string[], given: Arguments, seen: Seen): Origin[] {
    const [name, ...rest] = path;
    if (node.type !== "ObjectExpression" || name === undefined) return [{ kind: "node", node, file, path }];
    const found: Origin[] = [];
    // Later properties win. One with an unknown name may or may not match.
    for (const property of node.properties.toReversed()) {
      if (property.type === "SpreadElement") {
        found.push(...this.origins(property.argument, file, path, given, seen));
      } else {
        const key = memberName(property);
        if (key !== undefined && key !== name) continue;
        found.push(...this.origins(property.value, file, rest, given, seen));
        if (key === name) return found;
      }
    }
    return found;
  }
}

/**
 * Collects all code that a handler can reach: its own, and each function, class, object or constant of the application
 * that this code mentions, across files. Mentioning suffices; a call is not required. An allow comment above a step
 * covers only code that is reached through that step.
 * Next hop: `uses.ts` judges each node, `context-flow.ts` where the context goes.
 */
import { allowAbove } from "./allow.ts";
import { type Code, fromCore, isHandlerCall } from "./builders.ts";
import { inside } from "./modules.ts";
import { type Arguments, noArguments, type Origin } from "./origin.ts";
import { memberName, type Node, walk } from "./parse.ts";
import type { Place } from "./report.ts";
import type { Resolver } from "./resolve.ts";
import type { Binding, SourceFile } from "./scopes.ts";
import { isRuntimeTable, isSchemaPart, tableOf } from "./tables.ts";
import { nodeUse, outsideUse, type Use } from "./uses.ts";

/** How a piece of code was reached. */
interface Step {
  /** Covered by an allow comment: only uses that no comment can allow are reported. */
  allowed: boolean;
  /** The missing parts of incomplete comments on the way. */
  lacks: string[];
}

export interface Reached {
  uses: (Place & { use: Use; lacks: string[] })[];
  /** Mentioned runtime tables. */
  tables: (Place & { name: string })[];
  /** Texts with their places. If the same handler uses raw SQL, they may name tables. */
  texts: (Place & { text: string })[];
  /** Whether SQL written by hand may run, allowed or not. */
  sql: boolean;
  /** Code that no comment covers; the context is followed here. */
  regions: Code[];
}

/** Platform calls whose arguments run elsewhere, under other rules. */
const elsewhere = new Set([
  "defineApi",
  "defineAuth",
  "defineConfig",
  "workflow",
  "createCrudFactory",
  "createSvcProcedureBuilders",
  "createSvcHttpRouteBuilders",
]);

export class Reach {
  readonly found: Reached = { uses: [], tables: [], texts: [], sql: false, regions: [] };
  readonly #resolver: Resolver;
  readonly #root: string;
  readonly #seen = new Set<string>();

  constructor(resolver: Resolver, root: string) {
    this.#resolver = resolver;
    this.#root = root;
  }

  /** Follows one piece of code. */
  code({ node, file, given }: Code, step: Step): void {
    const from = this.#through({ node, file }, step);
    if (node.type !== "Identifier" && node.type !== "MemberExpression") {
      this.#region(node, file, given, from);
      return;
    }
    for (const origin of this.#resolver.origins(node, file, [], given)) {
      this.#origin(origin, { node, file }, given, from);
    }
  }

  /** The step through a place, which an allow comment may cover. */
  #through(place: Place, step: Step): Step {
    if (step.allowed) return step;
    const allow = allowAbove(this.#root, place);
    if (!allow) return step;
    return allow.missing.length === 0 ? { ...step, allowed: true } : { ...step, lacks: allow.missing };
  }

  #region(region: Node, file: SourceFile, given: Arguments, step: Step): void {
    const key = `${file.path} ${region.start} ${region.end} ${step.allowed}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    if (!step.allowed) this.found.regions.push({ node: region, file, given });

    walk(region, (node) => {
      if (this.#isElsewhere(node, file)) return false;
      this.#text(node, file);
      const use = nodeUse(this.#resolver, node, file);
      if (use) this.#use(use, { node, file }, step);
      if (node.type === "ImportExpression") {
        for (const path of pathsOf(node, file)) {
          for (const origin of this.#resolver.origins(node, file, path))
            this.#origin(origin, { node, file }, given, step);
        }
      }
      if (node.type === "Identifier") this.#reference(node, region, file, given, step);
      return true;
    });
  }

  /** Follows a name in a region to its definition outside the region. */
  #reference(node: Node, region: Node, file: SourceFile, given: Arguments, step: Step): void {
    const binding = file.bindings.get(node);
    if (!binding) {
      if (!file.declared.has(node) && isName(node, file))
        this.#origin({ kind: "global", name: (node as { name: string }).name, path: [] }, { node, file }, given, step);
      return;
    }
    const own = binding.file === file && binding.kind !== "import" && inside(binding.declaration, region);
    if (own) return;
    const from = this.#through({ node, file }, step);
    for (const path of pathsOf(node, file)) {
      for (const origin of this.#resolver.binding(binding, path, given))
        this.#origin(origin, { node, file }, given, from);
    }
  }

  #origin(origin: Origin, place: Place, given: Arguments, step: Step): void {
    const outside = outsideUse(origin);
    if (outside) this.#use(outside, place, step);
    if (origin.kind === "namespace") {
      for (const inner of this.#resolver.exportsOf(origin.file)) this.#origin(inner, place, noArguments, step);
      return;
    }
    if (origin.kind !== "node") return;
    const table = tableOf(this.#resolver, origin);
    if (table && isRuntimeTable(table)) this.found.tables.push({ ...place, name: table.name ?? table.schema ?? "" });
    if (table || isSchemaPart(this.#resolver, origin)) return;
    const object = objectOfThis(origin.node, origin.file);
    if (object) this.#region(object, origin.file, given, step);
    this.#region(origin.node, origin.file, given, step);
  }

  #use(use: Use, place: Place, step: Step): void {
    if (use.sql) this.found.sql = true;
    const { allowed, lacks } = this.#through(place, step);
    if (!allowed) this.found.uses.push({ ...place, use, lacks });
  }

  #text(node: Node, file: SourceFile): void {
    const text =
      node.type === "Literal" && typeof node.value === "string"
        ? node.value
        : node.type === "TemplateElement"
          ? (node.value.cooked ?? "")
          : "";
    if (/_system_|_gencow_/i.test(text)) this.found.texts.push({ node, file, text });
  }

  /** Definitions of other handlers, which are audited separately. */
  #isElsewhere(node: Node, file: SourceFile): boolean {
    if (node.type !== "CallExpression") return false;
    const callee = node.callee as Node;
    if (isHandlerCall(node)) return endsAtCore(this.#resolver, node, file);
    const name = fromCore(this.#resolver, callee, file);
    if (name) return elsewhere.has(name);
    return this.#resolver
      .origins(callee, file)
      .some(
        (origin) =>
          origin.kind === "node" &&
          origin.node.type === "CallExpression" &&
          fromCore(this.#resolver, origin.node.callee as Node, origin.file) === "createCrudFactory",
      );
  }
}

/** The object literal of a method that uses `this`. */
function objectOfThis(node: Node, file: SourceFile): Node | undefined {
  if (node.type !== "FunctionExpression") return undefined;
  const property = file.parents.get(node);
  const object = property && file.parents.get(property);
  if (object?.type !== "ObjectExpression") return undefined;
  let says = false;
  walk(node, (inner) => {
    if (inner.type === "ThisExpression" || inner.type === "Super") says = true;
  });
  return says ? object : undefined;
}

/** Whether a chain of calls begins at the platform's builders. */
function endsAtCore(resolver: Resolver, node: Node, file: SourceFile, seen = new Set<Node>()): boolean {
  if (seen.has(node)) return false;
  seen.add(node);
  if (node.type === "CallExpression") {
    const name = fromCore(resolver, node.callee as Node, file);
    if (name) return elsewhere.has(name);
    return endsAtCore(resolver, node.callee as Node, file, seen);
  }
  if (node.type === "MemberExpression") return endsAtCore(resolver, node.object as Node, file, seen);
  return resolver
    .origins(node, file)
    .some(
      (origin) =>
        origin.kind === "node" && origin.node !== node && endsAtCore(resolver, origin.node, origin.file, seen),
    );
}

/**
 * The members that are used where a value is mentioned: `a.b.c`, `const { b } = a`, and the same through a constant.
 * `[[]]` is the whole value.
 */
function pathsOf(node: Node, file: SourceFile, depth = 0): string[][] {
  const path: string[] = [];
  let at = node;
  let parent = file.parents.get(at);
  // `import("…").then(…)` uses the whole module.
  if (node.type === "ImportExpression" && parent?.type === "MemberExpression") return [path];
  for (;;) {
    if (parent?.type === "AwaitExpression" || parent?.type === "ChainExpression") at = parent;
    else if (parent?.type === "MemberExpression" && parent.object === at) {
      const name = memberName(parent);
      if (name === undefined) return [path];
      path.push(name);
      at = parent;
    } else break;
    parent = file.parents.get(at);
  }
  // A called member belongs to the value that has it: `list.map` needs the list.
  if (parent?.type === "VariableDeclarator" && parent.init === at && depth < 5) {
    const holders: Binding[] = [];
    walk(parent.id, (part) => {
      const binding = file.declared.get(part);
      if (binding) holders.push(binding);
    });
    const paths = holders.flatMap((binding) => {
      if (!binding.path || binding.references.length === 0) return [path];
      const taken = binding.path;
      return binding.references.flatMap((reference) =>
        pathsOf(reference, file, depth + 1).map((more) => [...path, ...taken, ...more]),
      );
    });
    if (paths.length > 0) return paths;
  }
  return [path];
}

/** Whether an identifier is a name that is read, not the name of a member, a property or a label. */
function isName(node: Node, file: SourceFile): boolean {
  const parent = file.parents.get(node);
  if (parent?.type === "MemberExpression") return parent.object === node || parent.computed;
  if (parent?.type === "Property") return parent.value === node || parent.computed;
  return (
    parent?.type !== "MethodDefinition" && parent?.type !== "PropertyDefinition" && parent?.type !== "MetaProperty"
  );
}

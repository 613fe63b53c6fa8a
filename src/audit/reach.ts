/**
 * Collects the code of its own file that a handler can reach: its own, and each function, class, object or constant that this
 * code mentions. Mentioning suffices; a call is not required. An allow comment above a step covers only code that is reached
 * through that step. What other files do is checked when it is called (`src/postgres/anonymous-gate.ts`).
 * Next hop: `uses.ts` judges each node.
 */
import { allowAbove } from "./allow.ts";
import { declarationOf, isFunction, memberName, type Node, type Place, parentOf, type Source, walk } from "./source.ts";
import { importOf, nodeUse, outsideUse, type Use } from "./uses.ts";
import { ownerOfThis, type Values, within, writes } from "./values.ts";

/** How a piece of code was reached. */
interface Step {
  /** Covered by an allow comment: only uses that no comment can allow are reported. */
  allowed: boolean;
  /** The missing parts of incomplete comments on the way. */
  lacks: string[];
}

export class Reach {
  readonly uses: (Place & { use: Use; lacks: string[] })[] = [];
  /** Texts that name a runtime table. If the handler uses raw SQL, they may be part of it. */
  readonly texts: Place[] = [];
  /** Whether handwritten SQL may run, allowed or not. */
  sql = false;
  readonly #values: Values;
  readonly #root: string;
  readonly #own: Node;
  readonly #seen = new Set<string>();

  /** @param own the call that defines the handler; other definitions in the file are audited by themselves */
  constructor(values: Values, root: string, own: Node) {
    this.#values = values;
    this.#root = root;
    this.#own = own;
  }

  code(region: Place, step: Step): void {
    const { file } = region;
    const key = `${file.path} ${region.node.start} ${region.node.end} ${step.allowed}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    walk(region.node, (node) => {
      if (this.#isElsewhere(node)) return false;
      const use = nodeUse(this.#values, { node, file });
      if (use) this.#use(use, { node, file }, step);
      const text = node.type === "Literal" ? String(node.value) : node.type === "TemplateElement" ? node.value.raw : "";
      if (/_system_|_gencow_/i.test(text)) this.texts.push({ node, file });
      if (node.type === "Identifier" && isName(node)) this.#mention(node, region, step);
      return true;
    });
  }

  /** Follows a name in a region to its definition outside the region. */
  #mention(node: Node, region: Place, step: Step): void {
    const { file } = region;
    const declaration = declarationOf(node);
    if (declaration && declaration.kind !== "import" && within(declaration.pattern, region.node)) return;
    const from = this.#through({ node, file }, step);
    const path = pathOf(node);
    const isLocal = declaration && declaration.kind !== "import";
    for (const value of isLocal ? this.#values.ofName(declaration, file, path) : [{ node, file, path }]) {
      const use = outsideUse(value);
      if (use) this.#use(use, { node, file }, step);
      if (value.node.type === "Identifier") continue;
      this.code(value, from);
      const owner = saysThis(value.node) ? ownerOfThis(value.node) : undefined;
      if (owner) this.code({ node: owner, file: value.file }, from);
    }
    if (!isLocal) return;
    for (const written of writes(declaration, file, path)) this.code({ node: written, file }, from);
    if (declaration.kind === "value") this.code({ node: declaration.pattern, file }, from);
    for (const statement of statementsAt(file)) {
      if (touched(statement).has(declaration)) this.code({ node: statement, file }, from);
    }
  }

  /** The step through a place, which an allow comment may cover. */
  #through(place: Place, step: Step): Step {
    const allow = step.allowed ? undefined : allowAbove(this.#root, place);
    return allow ? { allowed: allow.missing.length === 0, lacks: allow.missing } : step;
  }

  #use(use: Use, place: Place, step: Step): void {
    const { allowed, lacks } = this.#through(place, step);
    if (use.sql) this.sql = true;
    if (!allowed) this.uses.push({ ...place, use, lacks });
  }

  #isElsewhere(node: Node): boolean {
    if (node.type !== "CallExpression" || node === this.#own || within(this.#own, node)) return false;
    return memberName(node.callee as Node) === "handler" || importOf(node.callee as Node)?.name === "createCrud";
  }
}

const saysThis = (node: Node): boolean => {
  let says = false;
  if (node.type === "FunctionExpression") {
    walk(node, (inner) => {
      if (inner.type === "ThisExpression" || inner.type === "Super") says = true;
    });
  }
  return says;
};

/** Statements at the top of a file that are no declarations: `store.all = …`, `bus.on(…)`, `for (…) …`. */
const statementsAt = (file: Source): Node[] => (file.ast.body as Node[]).filter(({ type }) => /Statement$/.test(type));

const known = new WeakMap<Node, Set<unknown>>();

/** What a statement mentions, also by way of the functions that it mentions. */
function touched(node: Node, found = new Set<unknown>()): Set<unknown> {
  const before = known.get(node);
  if (before) return before;
  walk(node, (inner) => {
    const declaration = declarationOf(inner);
    if (!declaration || declaration.kind === "import" || found.has(declaration)) return;
    found.add(declaration);
    if (isFunction(declaration.node)) touched(declaration.node, found);
  });
  if (/Statement$/.test(node.type)) known.set(node, found);
  return found;
}

/** The members that are used where a value is mentioned: `a.b.c`. `[]` is the whole value. */
function pathOf(node: Node): string[] {
  const path: string[] = [];
  let at = node;
  for (let parent = parentOf(at); parent; parent = parentOf(at)) {
    const isMember = parent.type === "MemberExpression" && parent.object === at;
    if (!isMember && parent.type !== "ChainExpression" && parent.type !== "AwaitExpression") break;
    const name = isMember ? memberName(parent) : "";
    if (name === undefined) break;
    if (isMember) path.push(name);
    at = parent;
  }
  return path;
}

/** Whether an identifier is a name that is read, not the name of a member, a property or a label. */
function isName(node: Node): boolean {
  const parent = parentOf(node);
  if (parent?.type === "MemberExpression") return parent.object === node || parent.computed;
  if (parent?.type === "Property" || parent?.type === "PropertyDefinition")
    return parent.value === node || parent.computed;
  return parent?.type !== "MethodDefinition" && parent?.type !== "MetaProperty";
}

/**
 * Follows an expression back to what it may stand for, within its file: names, members, destructuring, assignments, and
 * the arguments of the calls that made a handler. There is no type checker: all possible values are returned.
 * Next hop: `reach.ts` and `uses.ts` ask here.
 */
import {
  type ClassNode,
  type Declaration,
  declarationOf,
  type FunctionNode,
  isClass,
  isFunction,
  literalText,
  memberName,
  type Node,
  type Place,
  parentOf,
  returned,
  type Source,
  walk,
} from "./source.ts";

/** `path`: the members taken of the node that could not be followed. */
export interface Value extends Place {
  path: string[];
}

export class Values {
  readonly #given: ReadonlyMap<Declaration, Place>;

  /** @param given the arguments of the calls that made a handler, by parameter */
  constructor(given: ReadonlyMap<Declaration, Place>) {
    this.#given = given;
  }

  /** What an expression, or a member of it, may be: a function, a literal, a call, an import, a global. */
  of({ node, file }: Place, taken: string[] = [], seen = new Set<string>()): Value[] {
    // `node = node.parent` would never end, so deeper members count as the whole.
    const path = taken.slice(0, 4);
    const key = `${file.path} ${node.start} ${node.end} ${path}`;
    if (seen.has(key) || seen.size > 400) return [];
    seen.add(key);
    const again = (inner: Node, members = path) => this.of({ node: inner, file }, members, seen);
    switch (node.type) {
      case "Identifier": {
        const declaration = declarationOf(node);
        if (!declaration || declaration.kind === "import") break;
        const found = this.ofName(declaration, file, path, seen);
        return found.length > 0 ? found : [{ node, file, path }];
      }
      case "MemberExpression": {
        const name = memberName(node) ?? this.constant({ node: node.property as Node, file });
        return again(node.object as Node, name === undefined ? [] : [name, ...path]);
      }
      case "ConditionalExpression":
        return [...again(node.consequent), ...again(node.alternate)];
      case "LogicalExpression":
        return [...again(node.left as Node), ...again(node.right)];
      case "AssignmentExpression":
        return again(node.right);
      case "AwaitExpression":
        return again(node.argument);
      case "ChainExpression":
        return again(node.expression);
      case "ThisExpression": {
        const owner = ownerOfThis(node);
        if (owner) return again(owner);
        break;
      }
      case "ObjectExpression":
        if (path[0] !== undefined) return member(node, path).flatMap(({ inner, rest }) => again(inner, rest));
    }
    return [{ node, file, path }];
  }

  ofName(declaration: Declaration, file: Source, path: string[], seen = new Set<string>()): Value[] {
    const { kind, node, path: part } = declaration;
    const given = this.#given.get(declaration);
    if (kind === "parameter") return given ? this.of(given, part ? [...part, ...path] : [], seen) : [];
    const definition =
      node && (isFunction(node) || isClass(node)) && part?.length === 0 && declaration.pattern !== node;
    const first = node
      ? definition
        ? [{ node, file, path }]
        : this.of({ node, file }, part ? [...part, ...path] : [], seen)
      : [];
    return [...first, ...writes(declaration, file, path).flatMap((node) => this.of({ node, file }, [], seen))];
  }

  /** The functions of the file that an expression may be, as a member of a class or of what another function returns, too. */
  functions(place: Place, taken: string[] = [], seen = new Set<Node>()): (Place & { node: FunctionNode })[] {
    return this.of(place, taken).flatMap(({ node, file, path }): (Place & { node: FunctionNode })[] => {
      const again = (inner: Node, members: string[]) => this.functions({ node: inner, file }, members, seen);
      const [name] = path;
      if (isFunction(node)) return name === undefined ? [{ node, file }] : [];
      if (isClass(node)) return name === undefined ? [] : this.#methods(node, file, name);
      if (seen.has(node)) return [];
      seen.add(node);
      if (node.type === "NewExpression") return again(node.callee as Node, path);
      if (node.type !== "CallExpression") return [];
      return again(node.callee as Node, []).flatMap((made) =>
        returned(made.node).flatMap((result) => this.functions({ node: result, file: made.file }, path, seen)),
      );
    });
  }

  #methods(node: ClassNode, file: Source, name: string): (Place & { node: FunctionNode })[] {
    const own = node.body.body.flatMap((one) =>
      one.type !== "StaticBlock" && memberName(one) === name && isFunction(one.value)
        ? [{ node: one.value, file }]
        : [],
    );
    if (own.length > 0 || !node.superClass) return own;
    return this.of({ node: node.superClass, file }).flatMap((base) =>
      isClass(base.node) && base.node !== node ? this.#methods(base.node, base.file, name) : [],
    );
  }

  /** The text of an expression, where all of it can be read. */
  constant({ node, file }: Place, depth = 0): string | undefined {
    const [value, ...others] = depth > 20 ? [] : this.of({ node, file });
    if (!value || others.length > 0 || value.path.length > 0) return undefined;
    const read = (inner: Node) => this.constant({ node: inner, file: value.file }, depth + 1);
    const text = literalText(value.node);
    if (text !== undefined) return text;
    const parts =
      value.node.type === "BinaryExpression" && value.node.operator === "+"
        ? [read(value.node.left as Node), read(value.node.right)]
        : value.node.type === "TemplateLiteral"
          ? value.node.quasis.flatMap((quasi, index) => {
              const inner = (value.node as typeof value.node & { type: "TemplateLiteral" }).expressions[index];
              return [quasi.value.cooked ?? "", ...(inner ? [read(inner)] : [])];
            })
          : [undefined];
    return parts.includes(undefined) ? undefined : parts.join("");
  }
}

/** A member of an object literal. Later properties win; one with an unknown name may or may not match. */
function member(node: Extract<Node, { type: "ObjectExpression" }>, path: string[]) {
  const found: { inner: Node; rest: string[] }[] = [];
  for (const property of node.properties.toReversed()) {
    if (property.type === "SpreadElement") found.push({ inner: property.argument, rest: path });
    else {
      const key = memberName(property);
      if (key === undefined || key === path[0]) found.push({ inner: property.value, rest: path.slice(1) });
      if (key === path[0]) break;
    }
  }
  return found;
}

/** The object literal or class whose method says `this`. */
export function ownerOfThis(node: Node): Node | undefined {
  for (let at: Node | undefined = node; at; at = parentOf(at)) {
    const parent = parentOf(at);
    if (parent && isClass(parent)) return parent;
    if (at.type === "FunctionDeclaration") return undefined;
    if (at.type === "FunctionExpression" && parent?.type === "Property") return parentOf(parent);
    if (at.type === "FunctionExpression" && parent?.type !== "MethodDefinition") return undefined;
  }
  return undefined;
}

/** The values that are assigned to a name or to a member of it. Inside functions they are mostly rows, which are no code. */
export function writes(declaration: Declaration, file: Source, path: string[]): Node[] {
  return file.assignments
    .filter(({ left }) => {
      const members: (string | undefined)[] = [];
      let root = left as Node;
      for (; root.type === "MemberExpression"; root = root.object as Node) members.unshift(memberName(root));
      let hit = false;
      walk(root, (inner) => {
        if (declarationOf(inner) === declaration) hit = true;
      });
      return hit && members.slice(0, path.length).every((name, at) => name === undefined || name === path[at]);
    })
    .map(({ right }) => right)
    .filter(isCode);
}

function isCode(value: Node): boolean {
  let around = parentOf(value);
  while (around && !isFunction(around)) around = parentOf(around);
  if (!around) return true;
  let root = value;
  if (root.type === "AwaitExpression") root = root.argument;
  if (root.type !== "CallExpression") return root.type !== "Literal" && root.type !== "TemplateLiteral";
  while (root.type === "CallExpression" || root.type === "MemberExpression")
    root = (root.type === "CallExpression" ? root.callee : root.object) as Node;
  const called = declarationOf(root);
  return called !== undefined && called.node !== around && !within(called.pattern, around);
}

/** Whether a node lies inside another one. */
export const within = (node: Node, region: Node): boolean => {
  let at: Node | undefined = node;
  while (at && at !== region) at = parentOf(at);
  return at === region;
};

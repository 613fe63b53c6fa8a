/**
 * Resolves names inside one file: every binding with its declaration, its writes and its references. A function's
 * parameters and body are one scope; that never hides a use.
 * Next hop: `modules.ts` follows imports, `resolve.ts` follows values.
 */
import { type FunctionNode, forChildren, isFunction, memberName, type Node, type Parsed } from "./parse.ts";

type Identifier = Extract<Node, { type: "Identifier" }>;

export interface Binding {
  name: string;
  file: SourceFile;
  kind: "import" | "function" | "class" | "variable" | "parameter" | "other";
  /** The function, class, variable declarator or import specifier; for a parameter, the function. */
  declaration: Node;
  /** Which part of the initial value or argument it is: `["a", "b"]` for `{ a: { b } }`; null when unknown. */
  path: string[] | null;
  /** Index of a parameter; -1 for everything else. */
  index: number;
  /** Default values in its pattern. */
  defaults: Node[];
  /** Later writes: assignments to it or a member, and arguments of its methods. */
  writes: Write[];
  references: Identifier[];
}

export interface Write {
  node: Node;
  file: SourceFile;
  /** The member written to; empty for the whole. */
  path: string[];
  /** The value counts for every member. */
  whole?: boolean;
}

export interface SourceFile extends Parsed {
  /** The binding that an identifier refers to; absent for globals. */
  bindings: ReadonlyMap<Node, Binding>;
  /** The binding that an identifier declares. */
  declared: ReadonlyMap<Node, Binding>;
  /** Whether the file has allow comments. */
  allows: boolean;
  /** Bindings at the top of the file, by name. */
  top: ReadonlyMap<string, Binding>;
}

interface Scope {
  names: Map<string, Binding>;
  outer: Scope | undefined;
  holdsVar: boolean;
}

/** Adds bindings to a parsed file. */
export function withScopes(parsed: Parsed): SourceFile {
  const top: Scope = { names: new Map(), outer: undefined, holdsVar: true };
  const bindings = new Map<Node, Binding>();
  const declared = new Map<Node, Binding>();
  const allows = parsed.comments.some(({ value }) => value.includes("svc-allow"));
  const file: SourceFile = { ...parsed, bindings, declared, allows, top: top.names };
  const pending: [Identifier, Scope][] = [];

  const declare = (
    scope: Scope,
    pattern: Node,
    made: Pick<Binding, "kind" | "declaration"> & { path?: string[] | null; index?: number; defaults?: Node[] },
  ): void => {
    const { path = [], defaults = [] } = made;
    if (pattern.type === "Identifier") {
      const known = scope.names.get(pattern.name);
      const binding: Binding = known ?? {
        index: -1,
        ...made,
        name: pattern.name,
        file,
        path,
        defaults,
        writes: [],
        references: [],
      };
      scope.names.set(pattern.name, binding);
      declared.set(pattern, binding);
    } else if (pattern.type === "AssignmentPattern") {
      declare(scope, pattern.left, { ...made, defaults: [...defaults, pattern.right] });
      visit(pattern.right, scope);
    } else if (pattern.type === "RestElement") {
      declare(scope, pattern.argument, { ...made, path: null });
    } else if (pattern.type === "ArrayPattern") {
      for (const item of pattern.elements) if (item) declare(scope, item, { ...made, path: null });
    } else if (pattern.type === "ObjectPattern") {
      for (const property of pattern.properties) {
        if (property.type === "RestElement") {
          // A rest element has the object's members under the same names.
          declare(scope, property.argument, made);
          continue;
        }
        if (property.computed) visit(property.key, scope);
        const name = memberName(property);
        declare(scope, property.value, { ...made, path: name === undefined || !path ? null : [...path, name] });
      }
    }
  };

  const inner = (outer: Scope, holdsVar = false): Scope => ({ names: new Map(), outer, holdsVar });

  const visitFunction = (node: FunctionNode, outer: Scope): void => {
    const scope = inner(outer, true);
    if (node.type === "FunctionExpression" && node.id) declare(scope, node.id, { kind: "function", declaration: node });
    for (const [index, parameter] of node.params.entries()) {
      declare(scope, parameter, { kind: "parameter", declaration: node, index });
    }
    if (node.body.type === "BlockStatement") for (const statement of node.body.body) visit(statement, scope);
    else visit(node.body, scope);
  };

  const visit = (node: Node, scope: Scope): void => {
    if (isFunction(node)) {
      if (node.type === "FunctionDeclaration" && node.id) {
        declare(scope, node.id, { kind: "function", declaration: node });
      }
      visitFunction(node, scope);
      return;
    }
    switch (node.type) {
      case "Identifier":
        pending.push([node, scope]);
        return;
      case "ImportDeclaration":
        for (const specifier of node.specifiers) {
          declare(scope, specifier.local, { kind: "import", declaration: specifier });
        }
        return;
      case "ExportNamedDeclaration":
        if (node.declaration) visit(node.declaration, scope);
        else if (!node.source) {
          for (const { local } of node.specifiers) if (local.type === "Identifier") pending.push([local, scope]);
        }
        return;
      case "ExportAllDeclaration":
      case "MetaProperty":
      case "BreakStatement":
      case "ContinueStatement":
        return;
      case "LabeledStatement":
        visit(node.body, scope);
        return;
      case "VariableDeclaration": {
        let home = scope;
        if (node.kind === "var") while (!home.holdsVar && home.outer) home = home.outer;
        for (const declarator of node.declarations) {
          declare(home, declarator.id, { kind: "variable", declaration: declarator });
          if (declarator.init) visit(declarator.init, scope);
        }
        return;
      }
      case "ClassDeclaration":
      case "ClassExpression": {
        const home = node.type === "ClassExpression" ? inner(scope) : scope;
        if (node.id) declare(home, node.id, { kind: "class", declaration: node });
        if (node.superClass) visit(node.superClass, home);
        visit(node.body, home);
        return;
      }
      case "MemberExpression":
        visit(node.object, scope);
        if (node.computed) visit(node.property, scope);
        return;
      case "Property":
      case "MethodDefinition":
      case "PropertyDefinition":
        if (node.computed) visit(node.key, scope);
        if (node.value) visit(node.value, scope);
        return;
      case "CatchClause": {
        const block = inner(scope);
        if (node.param) declare(block, node.param, { kind: "other", declaration: node });
        visit(node.body, block);
        return;
      }
      case "BlockStatement":
      case "StaticBlock":
      case "ForStatement":
      case "ForInStatement":
      case "ForOfStatement":
      case "SwitchStatement": {
        const block = inner(scope, node.type === "StaticBlock");
        forChildren(node, (child) => visit(child, block));
        return;
      }
      default:
        forChildren(node, (child) => visit(child, scope));
    }
  };

  for (const statement of parsed.ast.body) visit(statement as Node, top);
  for (const [identifier, scope] of pending) {
    let at: Scope | undefined = scope;
    while (at && !at.names.has(identifier.name)) at = at.outer;
    const binding = at?.names.get(identifier.name);
    if (!binding) continue;
    bindings.set(identifier, binding);
    binding.references.push(identifier);
    noteWrite(file, identifier, binding);
  }
  return file;
}

/** `x = value`, `x.member = value`, `for (x of value)`, `x.set(key, value)` and `Object.assign(x, value)`. */
function noteWrite(file: SourceFile, identifier: Identifier, binding: Binding): void {
  const up = (node: Node) => file.parents.get(node);
  const path: string[] = [];
  let node: Node = identifier;
  let parent = up(node);
  for (; parent?.type === "MemberExpression" && parent.object === node; parent = up(node)) {
    const name = memberName(parent);
    // A write to an unknown or nested member counts for the whole value.
    if (name === undefined) path.length = 0;
    else path.push(name);
    node = parent;
  }
  for (; parent && isPatternPart(parent, node, up(parent)); parent = up(node)) node = parent;
  const write = (value: Node) => void binding.writes.push({ node: value, file, path });

  if (parent?.type === "AssignmentExpression" && parent.left === node) write(parent.right);
  if ((parent?.type === "ForOfStatement" || parent?.type === "ForInStatement") && parent.left === node) {
    write(parent.right);
  }
  if (parent?.type === "CallExpression" && parent.callee === node && keeping.has(path.pop() ?? "")) {
    for (const value of parent.arguments) write(value);
  }
  if (parent?.type === "CallExpression" && parent.arguments[0] === node && parent.callee.type === "MemberExpression") {
    const { object } = parent.callee;
    if (object.type !== "Identifier" || !/^(Object|Reflect)$/.test(object.name)) return;
    const whole = /^(defineProperty|defineProperties|setPrototypeOf|set)$/.test(memberName(parent.callee) ?? "");
    if (!whole && memberName(parent.callee) !== "assign") return;
    for (const source of parent.arguments.slice(1)) binding.writes.push({ node: source, file, path, whole });
  }
}

/** Methods of collections and emitters that keep what they are given. */
const keeping = new Set(["set", "add", "push", "unshift", "splice", "on", "once", "addListener", "addEventListener"]);

function isPatternPart(parent: Node, child: Node, around: Node | undefined): boolean {
  if (parent.type === "ArrayPattern" || parent.type === "ObjectPattern" || parent.type === "RestElement") return true;
  if (parent.type === "AssignmentPattern") return parent.left === child;
  return parent.type === "Property" && parent.value === child && around?.type === "ObjectPattern";
}

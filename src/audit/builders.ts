/**
 * Finds the handlers: every `.handler(fn)` at the end of a builder's chain, however the chain is split over variables,
 * files and helper functions. A helper that takes the handler as an argument gives one handler per call of the helper.
 * Next hop: `reach.ts` follows what the anonymous ones do.
 */
import { type Arguments, noArguments } from "./origin.ts";
import { isFunction, memberName, type Node, returned, walk } from "./parse.ts";
import type { Place } from "./report.ts";
import type { Resolver } from "./resolve.ts";
import type { Binding, SourceFile } from "./scopes.ts";

/** Code with the arguments of the call that it is read for. */
export interface Code extends Place {
  given: Arguments;
}

export interface Handler {
  kind: "procedure" | "route" | "crud";
  /** The parts of the name; null for parts that cannot be read. */
  name: (string | null)[];
  /** The definition; an allow comment may stand above it. */
  definition: Place;
  /** The handler's function. */
  body: Code | undefined;
  /** Middleware and schemas. */
  layers: Code[];
  /** Only middleware: functions that get the context. */
  middleware: Code[];
}

/** The known state of a builder at one point of its chain. */
interface Chain {
  root: "procedure" | "route" | undefined;
  anonymous: boolean;
  name: (string | null)[] | undefined;
  verb: string;
  layers: Code[];
  middleware: Code[];
}

const start: Chain = { root: undefined, anonymous: false, name: undefined, verb: "", layers: [], middleware: [] };
const makers: Record<string, Chain["root"]> = {
  createSvcProcedureBuilders: "procedure",
  createSvcHttpRouteBuilders: "route",
};
const CORE = "@svc/core";

/** The application's handlers that anybody may call. */
export function anonymousHandlers(resolver: Resolver): Handler[] {
  return handlerCalls(resolver).flatMap(({ call, file }) =>
    instances(resolver, call, file, noArguments, { file, node: call }),
  );
}

function handlerCalls(resolver: Resolver): { call: Call; file: SourceFile }[] {
  const found: { call: Call; file: SourceFile }[] = [];
  for (const file of resolver.modules.files.values()) {
    for (const call of file.calls) if (isHandlerCall(call)) found.push({ call, file });
  }
  return found;
}

type Call = Extract<Node, { type: "CallExpression" }>;

export const isHandlerCall = (node: Node): node is Call =>
  node.type === "CallExpression" && node.callee.type === "MemberExpression" && memberName(node.callee) === "handler";

/** One handler per call path: enclosing helper functions are read once for each of their calls. */
function instances(
  resolver: Resolver,
  call: Call,
  file: SourceFile,
  given: Arguments,
  site: Place,
  depth = 0,
): Handler[] {
  const around = depth < 5 ? enclosingMaker(site, call, file, given) : undefined;
  if (around) {
    const sites = resolver.calls(around);
    if (sites.length > 0) {
      return sites.flatMap((caller) => {
        const filled = fill(around, site.file, caller.node.arguments, { ...caller, given: noArguments }, given);
        return instances(resolver, call, file, filled, caller, depth + 1);
      });
    }
  }
  const object = (call.callee as Extract<Node, { type: "MemberExpression" }>).object as Node;
  const chains = evaluate(resolver, { node: object, file, given }, new Set()).filter(({ anonymous }) => anonymous);
  const [argument] = call.arguments;
  return chains.map((chain) => ({
    kind: chain.root ?? (chain.verb ? "route" : "procedure"),
    name: chain.root === "route" || chain.verb ? [`${chain.verb} `, ...(chain.name ?? [null])] : (chain.name ?? [null]),
    definition: site,
    body: argument && { node: argument as Node, file, given },
    layers: chain.layers,
    middleware: chain.middleware,
  }));
}

/** The function around a site whose parameters the `.handler(…)` call uses. */
function enclosingMaker(site: Place, call: Node, file: SourceFile, given: Arguments) {
  for (let at = site.file.parents.get(site.node); at; at = site.file.parents.get(at)) {
    if (!isFunction(at)) continue;
    const parameters = parametersOf(at, site.file).filter((binding) => !given.has(binding));
    const mentioned = new Set<Binding>();
    const scan = site.file === file && call.start >= at.start && call.end <= at.end ? [call, site.node] : [site.node];
    for (const node of scan) {
      walk(node, (inner) => {
        const binding = (node === call ? file : site.file).bindings.get(inner);
        if (binding) mentioned.add(binding);
      });
    }
    if (parameters.some((binding) => mentioned.has(binding))) return at;
  }
  return undefined;
}

function parametersOf(node: Node, file: SourceFile): Binding[] {
  const found = new Set<Binding>();
  if (!isFunction(node)) return [];
  for (const parameter of node.params) {
    walk(parameter, (inner) => {
      const binding = file.declared.get(inner);
      if (binding?.kind === "parameter" && binding.declaration === node) found.add(binding);
    });
  }
  return [...found];
}

/** Puts a call's arguments in place of a function's parameters. */
function fill(node: Node, file: SourceFile, args: readonly Node[], at: Code, given: Arguments): Arguments {
  const filled = new Map(given);
  for (const binding of parametersOf(node, file)) {
    const argument = args[binding.index];
    if (argument) filled.set(binding, { node: argument, file: at.file, given: at.given });
  }
  return filled;
}

/** All possible values of a builder expression, as chains. */
function evaluate(resolver: Resolver, code: Code, seen: Set<Node>): Chain[] {
  const { node, file, given } = code;
  // Stops at cycles and at paths too long for a builder.
  if (seen.has(node) || seen.size > 40) return [];
  const inner = new Set(seen).add(node);
  const member = (at: Node): Code => ({ node: at, file, given });

  if (node.type === "CallExpression" && node.callee.type === "MemberExpression") {
    const step = memberName(node.callee);
    if (step !== undefined && steps.has(step)) {
      const before = evaluate(resolver, member(node.callee.object as Node), inner);
      return before.map((chain) => apply(resolver, chain, step, node.arguments.map(member)));
    }
  }
  if (node.type === "MemberExpression") {
    const name = memberName(node) ?? "";
    const origins = resolver.origins(node, file, [], given);
    const settled = origins.every(
      (origin) => origin.kind === "node" && origin.node !== node && origin.path.length === 0,
    );
    if (!settled || origins.length === 0) {
      return evaluate(resolver, member(node.object as Node), inner).map((chain) => withVerb(chain, [name]));
    }
  }
  if (node.type !== "CallExpression") {
    return resolver.origins(node, file, [], given).flatMap((origin) => {
      if (origin.kind !== "node") return [start];
      if (origin.node.type !== "CallExpression") return [start];
      const chains = evaluate(resolver, { node: origin.node, file: origin.file, given }, inner);
      return chains.map((chain) => withVerb(chain, origin.path));
    });
  }
  const root = coreMaker(resolver, node, file);
  if (root) return [{ ...start, root }];

  // A helper that returns a builder: read what it returns, with this call's arguments.
  const helpers = resolver.functions(node.callee as Node, file, given);
  if (helpers.length === 0) return [start];
  return helpers.flatMap((helper) => {
    const filled = fill(helper.node, helper.file, node.arguments as Node[], code, given);
    return returned(helper.node).flatMap((result) =>
      evaluate(resolver, { node: result, file: helper.file, given: filled }, inner),
    );
  });
}

const steps = new Set(["name", "path", "allowAnonymous", "use", "input", "output", "runAs"]);

function apply(resolver: Resolver, chain: Chain, step: string, args: Code[]): Chain {
  const [first] = args;
  if (step === "allowAnonymous") return { ...chain, anonymous: true };
  if (!first) return chain;
  if (step === "name" || step === "path") return { ...chain, name: resolver.text(first.node, first.file, first.given) };
  const middleware = step === "use" ? [...chain.middleware, first] : chain.middleware;
  return { ...chain, layers: [...chain.layers, first], middleware };
}

const withVerb = (chain: Chain, [name]: string[]): Chain =>
  chain.root !== "procedure" && /^(get|post|put|delete|patch)$/.test(name ?? "")
    ? { ...chain, verb: name ?? "" }
    : chain;

function coreMaker(resolver: Resolver, node: Call, file: SourceFile): Chain["root"] {
  const maker = fromCore(resolver, node.callee as Node, file);
  return maker ? makers[maker] : undefined;
}

/** The `@svc/core` export that an expression refers to, or undefined. */
export function fromCore(resolver: Resolver, node: Node, file: SourceFile): string | undefined {
  const [origin] = resolver.origins(node, file);
  return origin?.kind === "package" && origin.from === CORE ? origin.name : undefined;
}

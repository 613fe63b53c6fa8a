/**
 * Finds the definition of a registered handler in the source, by the lines that made it: the call of `.handler(…)`, and
 * the calls of the application's own helpers around it, whose arguments their parameters stand for.
 */
import { statSync } from "node:fs";
import type { DefinedAt } from "../contract/defined-at.ts";
import { type CallSite, callSites } from "../kit/call-sites.ts";
import {
  type CallNode,
  type Declaration,
  declarationOf,
  isFunction,
  type Place,
  parentOf,
  readSource,
  type Source,
  walk,
} from "./source.ts";

const sources = new Map<string, { file: Source; version: number }>();

/** @throws SyntaxError */
function sourceAt(path: string): Source {
  const version = statSync(path).mtimeMs;
  const known = sources.get(path);
  if (known?.version === version) return known.file;
  const file = readSource(path);
  sources.set(path, { file, version });
  return file;
}

/** The innermost node at a line of a stack; undefined when the file is not what runs. */
export function nodeAt({ path, line, column }: CallSite): Place | undefined {
  try {
    const file = sourceAt(path);
    const above = file.text.split("\n").slice(0, line - 1);
    const offset = above.reduce((sum, one) => sum + one.length + 1, column - 1);
    let found: Place | undefined;
    walk(file.ast, (node) => {
      if (node.start > offset || node.end <= offset) return false;
      found = { file, node };
      return true;
    });
    return found;
  } catch {
    return undefined;
  }
}

export interface Definition {
  handler: string;
  /** The calls that made it, innermost first. */
  sites: (Place & { node: CallNode })[];
  /** The arguments of those calls, by the parameter that they fill. */
  given: Map<Declaration, Place>;
}

export function definitionOf({ handler, trace }: DefinedAt): Definition {
  const sites = callSites(trace).flatMap((site) => {
    const place = nodeAt(site);
    const call = place && calledAt(place);
    return call ? [{ file: place.file, node: call }] : [];
  });
  const given = new Map<Declaration, Place>();
  for (const [index, { node }] of sites.entries()) {
    const caller = sites[index + 1];
    let around = parentOf(node);
    while (around && !isFunction(around)) around = parentOf(around);
    // A callback's arguments are not those of the call that it was handed to.
    if (!caller || !isFunction(around) || (caller.node.arguments as unknown[]).includes(around)) continue;
    for (const [at, parameter] of around.params.entries()) {
      const argument = caller.node.arguments[at];
      if (!argument) continue;
      walk(parameter, (inner) => {
        const declaration = declarationOf(inner);
        if (declaration?.kind === "parameter") given.set(declaration, { file: caller.file, node: argument });
      });
    }
  }
  return { handler, sites, given };
}

/** The call whose name stands at a place: a stack names the position of the callee's last word. */
function calledAt({ node }: Place): CallNode | undefined {
  for (let at = parentOf(node), below = node; at; below = at, at = parentOf(at)) {
    if ((at.type === "CallExpression" || at.type === "NewExpression") && at.callee === below) return at;
    if (at.type !== "MemberExpression") return undefined;
  }
  return undefined;
}

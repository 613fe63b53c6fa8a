/**
 * Types of the resolver: the possible origins of a value, and the state of a search.
 * Next hop: `resolve.ts`.
 */
import type { CallNode, FunctionNode, Node } from "./parse.ts";
import type { Binding, SourceFile } from "./scopes.ts";

/** An expression that is not followed further back, or something from outside the application. */
export type Origin =
  /** `path`: the members taken of it that could not be followed. */
  | { kind: "node"; node: Node; file: SourceFile; path: string[] }
  | { kind: "package"; from: string; name: string; path: string[] }
  | { kind: "namespace"; file: SourceFile }
  | { kind: "global"; name: string; path: string[] }
  /** A parameter without a known argument, or a caught error. */
  | { kind: "unknown"; tooFar?: boolean };

/** Visited nodes with their members, to detect cycles. */
export interface Seen {
  nodes: Map<Node, string[]>;
  steps: number;
}
export const nothingSeen = (): Seen => ({ nodes: new Map(), steps: 0 });

/** Arguments of one call, by parameter. */
export type Arguments = ReadonlyMap<Binding, { node: Node; file: SourceFile; given: Arguments }>;
export const noArguments: Arguments = new Map();

export interface Callable {
  node: FunctionNode;
  file: SourceFile;
}

export interface CallSite {
  node: CallNode;
  file: SourceFile;
}

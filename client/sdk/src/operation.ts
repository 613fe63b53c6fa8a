/**
 * References to the operations of a backend, as the generated `api.ts` declares them: the name, and the types for the
 * compiler, without any code of the backend.
 * Next hop: `client.ts` calls them.
 */
import type { Conversions } from "./rows.ts";

/** A reference to a procedure. */
export interface Operation<
  Kind extends "query" | "mutation" = "query" | "mutation",
  Input = unknown,
  Output = unknown,
> {
  readonly name: string;
  readonly kind: Kind;
  /** For generated CRUD: the columns that are not plain JSON. */
  readonly columns?: Conversions | undefined;
  /** Only for the type system. */
  readonly "~types"?: { input: Input; output: Output };
}

export type Query<Input = unknown, Output = unknown> = Operation<"query", Input, Output>;
export type Mutation<Input = unknown, Output = unknown> = Operation<"mutation", Input, Output>;

export type InputOf<O extends Operation> = O extends Operation<infer _Kind, infer Input, infer _Output> ? Input : never;
export type OutputOf<O extends Operation> =
  O extends Operation<infer _Kind, infer _Input, infer Output> ? Output : never;

/** Nested references: the generated `api`. `object`, because an interface does not match an index signature. */
export type Operations = object;

/**
 * The operation's name.
 *
 * @param kind the required kind, if any
 * @throws TypeError for a misspelt member of `api`, a group of operations, or an operation of the other kind
 */
export function nameOf(operation: Operation, kind?: "query" | "mutation"): string {
  if (typeof operation?.name !== "string") {
    const what = typeof operation === "object" && operation ? "a group of them" : operation;
    throw new TypeError(
      `This is not an operation, but ${what}. Pass one such as api.tasks.list; \`svc codegen\` writes those that the backend has.`,
    );
  }
  if (kind === undefined || operation.kind === kind) return operation.name;
  const call = kind === "query" ? "mutate" : "query";
  throw new TypeError(`${operation.name} is a ${operation.kind}: it is for ${call}.`);
}

/** The type information of a backend's procedure. */
export interface Declared {
  readonly "~svc": { readonly types?: { input: unknown; output: unknown } };
}
export type TypesOf<P extends Declared> = NonNullable<P["~svc"]["types"]>;

/** The references to a query and a mutation of the backend, of which the generated `api.ts` makes interfaces. */
export type QueryOf<P extends Declared> = Query<TypesOf<P>["input"], TypesOf<P>["output"]>;
export type MutationOf<P extends Declared> = Mutation<TypesOf<P>["input"], TypesOf<P>["output"]>;

/** A query of the backend. @param columns the conversions of a generated resource */
export function query<P extends Declared>(name: string, columns?: Conversions): QueryOf<P> {
  return { name, kind: "query", columns };
}

/** A mutation of the backend. @param columns the conversions of a generated resource */
export function mutation<P extends Declared>(name: string, columns?: Conversions): MutationOf<P> {
  return { name, kind: "mutation", columns };
}

/**
 * The types of `aggregate`: `groupBy` and `measures` of a call decide which members its groups have.
 * Next hop: `client.ts` and the React hooks use them.
 */
import type { Declared, Query, TypesOf } from "./operation.ts";
import type { FiltersThrough, Resource } from "./related.ts";

/** The aggregate of a generated resource. */
export interface AggregateQuery<R extends Resource = Resource, Input = unknown, Output = unknown>
  extends Query<Input, Output> {
  /** Only for the type system. */
  readonly "~aggregate": R;
}

type Group<Input> = Input extends { groupBy?: readonly (infer G)[] | undefined } ? G : never;
type Measure<Input> = Input extends { measures: readonly (infer M)[] } ? M : never;

/** What `groupBy` takes. */
export type GroupBy<Input> = readonly Group<Input>[];
/** What `measures` takes. */
export type Measures<Input> = readonly Measure<Input>[];

/** The arguments of an aggregate by `G` that measures `M`. */
export type AggregateInput<R extends Resource, Input, G, M> = Omit<Input, "groupBy" | "measures" | "filters"> & {
  /** (Default: none: one group of all rows) */
  groupBy?: G | undefined;
  measures: M;
  filters?: FiltersThrough<R> | undefined;
};

/** The result of such a call. */
export type AggregateOutput<Output, G, M> = Output extends { data: (infer Row)[] }
  ? { [K in keyof Output]: K extends "data" ? GroupRow<Row, G, M>[] : Output[K] }
  : never;

type GroupRow<Row, G, M> = {
  [K in keyof Row as K extends Certain<G> | Certain<M> ? K : never]-?: Row[K];
} & {
  [K in keyof Row as K extends Exclude<Item<G> | Item<M>, Certain<G> | Certain<M>> ? K : never]: Row[K];
} extends infer Both
  ? { [K in keyof Both]: Both[K] }
  : never;

type Item<List> = List extends readonly (infer Name)[] ? Name : never;

/** The names that a list certainly has. A name that is one of several, or of a list of unknown length, may be missing. */
type Certain<List> = List extends readonly [infer First, ...infer Rest]
  ? (IsUnion<First> extends true ? never : First) | Certain<Rest>
  : never;
type IsUnion<T, Whole = T> = T extends unknown ? ([Whole] extends [T] ? false : true) : never;

/** An aggregate of the backend. @typeParam R its resource, as `api.ts` declares it */
export type AggregateQueryOf<P extends Declared, R extends Resource> = AggregateQuery<
  R,
  TypesOf<P>["input"],
  TypesOf<P>["output"]
>;

/**
 * The aggregate of a generated resource, as `api.ts` of earlier versions makes it.
 *
 * @typeParam R its resource, as `api.ts` declares it
 */
export function aggregateQuery<P extends Declared, R extends Resource>(
  name: string,
): AggregateQuery<R, TypesOf<P>["input"], TypesOf<P>["output"]> {
  return { name, kind: "query" } as AggregateQuery<R, TypesOf<P>["input"], TypesOf<P>["output"]>;
}

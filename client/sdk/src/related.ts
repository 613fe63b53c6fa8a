/**
 * The types of `include`, `select` and filters through relations. The generated `api.ts` declares an interface for each
 * resource; these types follow it from the arguments of a call to its result.
 * Next hop: `client.ts` and the React hooks use them.
 */
import { type Declared, type Query, query, type TypesOf } from "./operation.ts";
import type { Conversions } from "./rows.ts";

/** What the compiler knows of a generated resource. */
export interface Resource {
  /** A whole row. */
  row: object;
  /** What `filters` takes. */
  filters: unknown;
  /** By name, each a `One` or a `Many`. */
  relations: object;
}

/** A relation to at most one row. */
export interface One<Target> {
  many: false;
  target: Target;
}

/** A relation to any number of rows. */
export interface Many<Target> {
  many: true;
  target: Target;
}

/** A list or a get of a generated resource. */
export interface ResourceQuery<R extends Resource = Resource, Input = unknown, Output = unknown>
  extends Query<Input, Output> {
  /** Only for the type system. */
  readonly "~resource": R;
}

/** How many relations may follow below a level; a call may include 3 below each other. */
type Depth = 0 | 1 | 2 | 3;
type Below<D extends Depth> = [0, 0, 1, 2][D];

type TargetOf<Relation> = Relation extends { target: infer Target extends Resource } ? Target : never;

export type SelectOf<R extends Resource> = readonly (keyof R["row"] & string)[];

export type IncludeOf<R extends Resource, D extends Depth = 3> = D extends 0
  ? { readonly [name: string]: never }
  : { readonly [K in keyof R["relations"]]?: true | RelationArguments<R["relations"][K], Below<D>> } & Counting<R>;

interface Counting<R extends Resource> {
  /** Relations to many rows whose visible rows are counted. */
  readonly _count?: {
    readonly [K in keyof R["relations"] as R["relations"][K] extends Many<unknown> ? K : never]?:
      | true
      | { readonly filters?: FiltersThrough<TargetOf<R["relations"][K]>> };
  };
}

type RelationArguments<Relation, D extends Depth> =
  Relation extends Many<infer Target extends Resource> ? ManyArguments<Target, D> : OneArguments<TargetOf<Relation>, D>;

interface OneArguments<R extends Resource, D extends Depth> {
  /** (Default: all properties that the resource shows) */
  readonly select?: SelectOf<R> | undefined;
  readonly include?: IncludeOf<R, D> | undefined;
}

interface ManyArguments<R extends Resource, D extends Depth> extends OneArguments<R, D> {
  /** (Default: the resource's own) */
  readonly limit?: number | undefined;
  /** One property. (Default: newest first, as in a list) */
  readonly orderBy?: { readonly [K in keyof R["row"]]?: "asc" | "desc" } | undefined;
  readonly filters?: FiltersThrough<R> | undefined;
}

/** A resource's filters, and those of its relations. */
export type FiltersThrough<R extends Resource, D extends Depth = 3> = keyof R["relations"] extends never
  ? R["filters"]
  : Omit<R["filters"], "OR" | "AND"> & RelationFilters<R, D> & FilterGroups<R, D>;

interface FilterGroups<R extends Resource, D extends Depth> {
  OR?: readonly FiltersThrough<R, D>[];
  AND?: readonly FiltersThrough<R, D>[];
}

type RelationFilters<R extends Resource, D extends Depth> = D extends 0
  ? unknown
  : {
      [K in keyof R["relations"]]?: R["relations"][K] extends Many<infer Target extends Resource>
        ? Quantified<Target, Below<D>>
        : FiltersThrough<TargetOf<R["relations"][K]>, Below<D>>;
    };

interface Quantified<R extends Resource, D extends Depth> {
  some?: FiltersThrough<R, D>;
  none?: FiltersThrough<R, D>;
  every?: FiltersThrough<R, D>;
}

/** An include with never in place of the members that are not known. */
type Known<R extends Resource, I> = {
  readonly [K in keyof I]: K extends keyof R["relations"]
    ? I[K] extends object
      ? KnownArguments<R["relations"][K], I[K]>
      : I[K]
    : K extends "_count"
      ? { readonly [C in keyof I[K]]: C extends keyof R["relations"] ? I[K][C] : never }
      : never;
};

type KnownArguments<Relation, A> = {
  readonly [K in keyof A]: K extends "include"
    ? Known<TargetOf<Relation>, A[K]>
    : K extends keyof ManyArguments<Resource, 0>
      ? Relation extends Many<unknown>
        ? A[K]
        : K extends "select"
          ? A[K]
          : never
      : never;
};

type OmitEach<T, K extends string> = T extends unknown ? Omit<T, K> : never;

/** The arguments of a list or get that includes `I` and selects `S`. */
export type ResourceInput<R extends Resource, Input, I, S> =
  | (OmitEach<NonNullable<Input>, "filters"> &
      ("filters" extends keyof NonNullable<Input> ? { filters?: FiltersThrough<R> | undefined } : unknown) & {
        /** Properties of each row. (Default: all that the resource shows) */
        select?: S | undefined;
        /** Relations by name: `true`, or what is wanted of them. (Default: none) */
        include?: I | undefined;
      })
  // Not Extract: the compiler would infer Input from it, and let undefined pass where arguments are needed.
  | (undefined extends Input ? undefined : never);

/** never for an include with members that the constraint lets pass: names that are no relations or arguments. */
export type OnlyKnown<R extends Resource, I> = I extends Known<R, I> ? unknown : never;

/** The same of any call. The compiler explains wrong arguments by it, in shorter messages. */
export type AnyResourceInput<R extends Resource, Input> = ResourceInput<R, Input, IncludeOf<R>, SelectOf<R>>;

/** The result of such a call. */
export type ResourceOutput<R extends Resource, Output, I, S> = [SelectOf<R>, keyof I] extends [S, never]
  ? Output
  : SelectedOutput<R, Output, I, S>;

type SelectedOutput<R extends Resource, Output, I, S> = Output extends { data: unknown[] }
  ? Flat<Omit<Output, "data"> & { data: RelatedRow<R, I, S>[] }>
  : RelatedRow<R, I, S> | null;

type Flat<T> = { [K in keyof T]: T[K] } & {};

type RelatedRow<R extends Resource, I, S> = Flat<
  Pick<R["row"], (S extends readonly (infer K)[] ? K : keyof R["row"]) & keyof R["row"]> & {
    [K in keyof I & keyof R["relations"]]: R["relations"][K] extends Many<infer Target extends Resource>
      ? RelatedRow<Target, Member<I[K], "include">, Member<I[K], "select">>[]
      : RelatedRow<TargetOf<R["relations"][K]>, Member<I[K], "include">, Member<I[K], "select">> | null;
  } & { [K in keyof I & "_count"]: { -readonly [C in keyof I[K]]-?: number } }
>;

/** undefined where it is not given: then nothing is included, and all is selected. */
type Member<T, K extends string> = K extends keyof T ? T[K] : undefined;

/** A list or a get of the backend. @typeParam R its resource, as `api.ts` declares it */
export type ResourceQueryOf<P extends Declared, R extends Resource> = ResourceQuery<
  R,
  TypesOf<P>["input"],
  TypesOf<P>["output"]
>;

/**
 * A list or a get of a generated resource, as `api.ts` of earlier versions makes it.
 *
 * @typeParam R its resource, as `api.ts` declares it
 * @param columns the conversions of the resource
 */
export function resourceQuery<P extends Declared, R extends Resource>(
  name: string,
  columns?: Conversions,
): ResourceQuery<R, TypesOf<P>["input"], TypesOf<P>["output"]> {
  return query(name, columns) as ResourceQuery<R, TypesOf<P>["input"], TypesOf<P>["output"]>;
}

/** A row of a list or get. */
export type RowIn<P extends Declared> = RowOf<TypesOf<P>["output"]>;
/** What the filters of a list take. */
export type FiltersOf<P extends Declared> = FiltersIn<TypesOf<P>["input"]>;

/** The row of a list or get. */
type RowOf<Output> = Output extends { data: (infer Row extends object)[] } ? Row : NonNullable<Output> & object;
/** The filters of a list. */
type FiltersIn<Input> = NonNullable<Input> extends { filters?: infer Filters } ? Exclude<Filters, undefined> : object;

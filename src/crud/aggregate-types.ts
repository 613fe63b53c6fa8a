/**
 * The types of `aggregate`, from the table's declaration and the option to the caller.
 * Next hop: `client/sdk/src/aggregate.ts`, which picks what a call asks for.
 */
import type { PgTable } from "drizzle-orm/pg-core";
import type { FiltersOf } from "./crud-filters.ts";

type ColumnsOf<T extends PgTable> = T["_"]["columns"];
type Property<T extends PgTable> = keyof ColumnsOf<T> & string;

type Time = { _: { columnType: `PgTimestamp${string}` | `PgDate${string}` } };
/** Kinds whose values JavaScript's numbers cannot hold. */
type Wide = { _: { columnType: `PgBig${string}` | `PgNumeric${string}` } };
type Float = { _: { columnType: "PgReal" | "PgDoublePrecision" } };
type DataOf<Column> = Column extends { _: { data: infer Data } } ? Data : never;
type Nullable<Column> = Column extends { _: { notNull: true } } ? never : null;

/** The columns that the option names; a date or timestamp with a unit of time, such as `createdAt:day`. */
type Groups<T extends PgTable, O> = O extends { groupBy: readonly (infer K extends Property<T>)[] }
  ? {
      [P in K as ColumnsOf<T>[P] extends Time ? `${P}:${"hour" | "day" | "week" | "month" | "year"}` : P]:
        | (ColumnsOf<T>[P] extends Time | Wide ? string : DataOf<ColumnsOf<T>[P]>)
        | Nullable<ColumnsOf<T>[P]>;
    }
  : object;

/** Null where a group has no values. */
type Measures<T extends PgTable, O> = O extends { measures: readonly (infer M extends string)[] }
  ? { [K in M]: K extends `${infer By}:${infer P extends Property<T>}` ? Measured<By, ColumnsOf<T>[P]> | null : number }
  : object;
type Measured<By extends string, Column> = By extends "sum" | "avg"
  ? Column extends Float
    ? number
    : string
  : Column extends Time | Wide
    ? string
    : DataOf<Column>;

interface Arguments<Group extends string, Measure extends string, Conditions> {
  groupBy?: readonly Group[] | undefined;
  measures: readonly Measure[];
  filters?: FiltersOf<Conditions> | undefined;
  /** As in lists: text that stands in one of the resource's `searchFields`, ignoring case. */
  search?: string | undefined;
  /** One of `groupBy` or `measures`. (Default: the groups, ascending) */
  orderBy?: { [K in Group | Measure]?: "asc" | "desc" } | undefined;
  /** Clamped to 1 and 1,000. (Default: 100) */
  limit?: number | undefined;
  /** In which days begin, such as Europe/Berlin. (Default: UTC) */
  timeZone?: string | undefined;
}

type OptionOf<O> = O extends { aggregate: infer Option } ? Option : never;

/** What `aggregate` takes. @typeParam O the options of `createCrud` */
export type AggregateArguments<T extends PgTable, O, Conditions> = Arguments<
  keyof Groups<T, OptionOf<O>> & string,
  keyof Measures<T, OptionOf<O>> & string,
  Conditions
>;

/** Groups with what a call asked of them. Wide numbers, dates and times are texts. */
export interface Aggregates<T extends PgTable, O> {
  data: Partial<Groups<T, OptionOf<O>> & Measures<T, OptionOf<O>>>[];
  /** Whether the limit has left out groups. */
  hasMore: boolean;
}

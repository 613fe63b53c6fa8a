/** The types of generated CRUD, from the table's declaration to the caller. */
import type { InferInsertModel, InferSelectModel } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Procedure, ProcedureKind } from "./procedure.ts";

/** Columns that callers cannot write. */
type Managed = "id" | "userId" | "createdAt" | "updatedAt";

type Flat<T> = { [K in keyof T]: T[K] } & {};

export type CrudRow<T extends PgTable> = Flat<InferSelectModel<T>>;
export type CrudId<T extends PgTable> = InferSelectModel<T> extends { id: infer Id } ? Id : never;
export type CrudCreate<T extends PgTable> = Flat<Omit<InferInsertModel<T>, Managed>>;

export interface CrudListArguments {
  /** From 1; less means 1. (Default: 1) */
  page?: number;
  /** Clamped to 1 and the resource's maximum, 100 unless declared otherwise. (Default: 20) */
  limit?: number;
}

export interface CrudList<Row> {
  data: Row[];
  /** All rows that the caller may see, on every page. */
  total: number;
}

/** What `createCrud` returns. An alias, since only aliases fit where any record of procedures is welcome. */
export type CrudProcedures<T extends PgTable, Prefix extends string> = {
  list: Crud<`${Prefix}.list`, "query", CrudListArguments | undefined, CrudList<CrudRow<T>>>;
  get: Crud<`${Prefix}.get`, "query", { id: CrudId<T> }, CrudRow<T> | null>;
  create: Crud<`${Prefix}.create`, "mutation", CrudCreate<T>, CrudRow<T>>;
  update: Crud<`${Prefix}.update`, "mutation", Flat<{ id: CrudId<T> } & Partial<CrudCreate<T>>>, CrudRow<T>>;
  remove: Crud<`${Prefix}.remove`, "mutation", { id: CrudId<T> }, { id: CrudId<T> }>;
};

/** One of the five, in the four words that tell it apart. */
interface Crud<Name extends string, Kind extends ProcedureKind, Input, Output>
  extends Procedure<{ name: Name; kind: Kind; input: Input; output: Output }> {}

/** A schema snapshot, which `takeSnapshot` (schema-snapshot.ts) creates and migrations compare. */
import type { AuthDefinition } from "../../contract/auth.ts";

export interface Column {
  name: string;
  type: string;
  /** Schema of an enum type. */
  typeSchema?: string;
  primaryKey: boolean;
  notNull: boolean;
  default?: string | number | boolean;
  generated?: unknown;
  identity?: Identity;
}

export interface Policy {
  name: string;
  as?: "PERMISSIVE" | "RESTRICTIVE";
  for?: "ALL" | "SELECT" | "INSERT" | "UPDATE" | "DELETE";
  to?: string[];
  using?: string;
  withCheck?: string;
  /** A comment for the linter. A policy does not change when only this does. */
  meaning?: string;
}

export interface Index {
  name: string;
  columns: { expression: string; isExpression: boolean; asc: boolean; nulls?: string }[];
  isUnique: boolean;
  concurrently: boolean;
  method: string;
  with: object;
  where?: string;
}

interface ForeignKey {
  name: string;
  tableFrom: string;
  tableTo: string;
  schemaTo?: string;
  columnsFrom: string[];
  columnsTo: string[];
}

export interface Table {
  name: string;
  /** Empty for public. */
  schema: string;
  columns: Record<string, Column>;
  indexes: Record<string, Index>;
  foreignKeys: Record<string, ForeignKey>;
  compositePrimaryKeys: Record<string, { name: string; columns: string[] }>;
  uniqueConstraints: Record<string, { name: string; columns: string[] }>;
  checkConstraints: Record<string, { name: string; value: string }>;
  policies: Record<string, Policy>;
  isRLSEnabled: boolean;
}

/** The dependent objects of a table, but its primary key. */
export const dependents = ["indexes", "foreignKeys", "uniqueConstraints", "checkConstraints"] as const;

export interface View {
  name: string;
  definition?: string;
  materialized: boolean;
  isExisting: boolean;
  with?: { securityInvoker?: boolean };
}

export interface Enum {
  name: string;
  schema: string;
  values: string[];
}

/** Members are keyed by `schema.name`. */
export interface Snapshot {
  id: string;
  prevId: string;
  tables: Record<string, Table>;
  enums: Record<string, Enum>;
  sequences: Record<string, { name: string; schema: string }>;
  schemas: Record<string, string>;
  views: Record<string, View>;
  roles: object;
  policies: Record<string, { name: string; on?: string }>;
  /** svc's additions to drizzle-kit's snapshot. */
  svc: { grants: Grants; userFields: UserFields };
}

/** Input of a snapshot: the exports of the schema files, and the declared user fields. */
export interface Declared {
  schema: Record<string, unknown>;
  auth: AuthDefinition;
}

/** Privileges of one role on one table or view. */
export interface Privileges {
  select: boolean;
  delete: boolean;
  /** Columns, in the table's order; empty for none. */
  insert: string[];
  update: string[];
}

/** By table or view, then by role. */
type Grants = Record<string, Record<string, Privileges>>;

/** A column, by its table's key and its name. */
export interface ColumnRef {
  key: string;
  column: string;
}

export interface UserField {
  type: "text" | "boolean" | "integer" | "timestamptz";
  /** As SQL; null for none. */
  default: string | null;
}

/** By column. */
export type UserFields = Record<string, UserField>;

/** As drizzle-kit writes it, with numbers as text. */
export interface Identity {
  type: "always" | "byDefault";
  name: string;
  schema?: string;
  increment?: string;
  startWith?: string;
  minValue?: string;
  maxValue?: string;
  cache?: string;
  cycle?: boolean;
}

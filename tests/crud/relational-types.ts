/** The shapes of relational-world.ts. */
export type Row = { id: number } & Record<string, unknown>;

export interface Column {
  property: string;
  name: string;
  type: string;
  /** As the code generator names it. */
  kind: string;
}

export interface Policy {
  what: string;
  roles: string;
  using: string;
  sees(row: Row, user: string | null): boolean;
}

export interface Relation {
  target: Table;
  many: boolean;
  local: string[];
  foreign: string[];
  through?: { table: Table; local: string[]; foreign: string[] };
}

export interface Table {
  name: string;
  columns: Column[];
  rows: Row[];
  policy: Policy;
  relations: Map<string, Relation>;
  /** The options of createCrud; null: a join table without a resource. */
  options: Options | null;
  /** Whether other tables may refer to it by its columns a and b. */
  hasPair: boolean;
}

export interface Options {
  allowAnonymous: boolean;
  visible: string[];
  allowedFilters: string[];
  searchFields: string[];
  softDelete: string | null;
  count: "exact" | "none";
  defaultLimit: number;
  maxLimit: number;
  include: (string | { name: string; through: string; on: string })[];
  groupBy: string[];
  measures: string[];
}

export interface Reference {
  from: Table;
  to: Table;
  columns: string[];
  references: string[];
}

/** A relation that relations() declares. */
export interface Declared {
  table: Table;
  name: string;
  reference: Reference;
  kind: "one" | "many" | "single";
}

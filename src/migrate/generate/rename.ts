/** Names that are missing from a schema, and the names that replace them. */

export type Kind = "table" | "enum" | "sequence" | "column" | "value" | "user field";

export interface Rename {
  text: string;
  from: string;
  to: string;
}

/** A matching rename: the part of the snapshot, and both names in the form of that part. */
export interface FoundRename {
  rename: Rename;
  kind: Kind;
  container: string;
  from: string;
  to: string;
}

/** Names that a schema has no more, and those that took their places. */

export type Kind = "table" | "enum" | "sequence" | "column" | "value" | "user field";

export interface Rename {
  text: string;
  from: string;
  to: string;
}

/** A rename that fits: the part of the snapshot, and both names as that part has them. */
export interface FoundRename {
  rename: Rename;
  kind: Kind;
  container: string;
  from: string;
  to: string;
}

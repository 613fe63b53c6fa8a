/** The types of `<prefix>.history`. */

/** The input of `history`. */
export interface HistoryArguments<Id> {
  id: Id;
  /** As of `list`. */
  limit?: number | undefined;
  /** `nextCursor` of the page before. (Default: the newest entries) */
  cursor?: string | null | undefined;
}

/** The changes of a row, newest first. */
export interface History<Column extends string> {
  data: HistoryEntry<Column>[];
  nextCursor: string | null;
}

interface HistoryEntry<Column extends string> {
  id: string;
  /** ISO 8601. */
  at: string;
  /** The id of the user who made the change; null: the system or an administrator. */
  actor: string | null;
  operation: "insert" | "update" | "delete";
  /** By property: the values before and after, as JSON has them; null where they are not kept. */
  changed: { [Property in Column]?: [before: unknown, after: unknown] | null };
}

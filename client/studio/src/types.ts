/** What Studio's API answers. */

export interface Column {
  name: string;
  type: string;
  key_place: number | null;
  is_null: boolean;
  says: string | null;
}

export interface Row {
  key: string[] | null;
  cells: (string | null)[] | null;
  cut: number[];
}

export interface Rows {
  columns: Column[];
  withheld: string[];
  rows: Row[];
  next: string[] | null;
  moreHidden: boolean;
}

export interface Table {
  name: string;
  is_platform: boolean;
  has_rls: boolean;
  estimate: string | null;
  says: string | null;
}

export interface Rule {
  name: string;
  is_platform: boolean;
  has_rls: boolean;
  role: "svc_anonymous" | "svc_authenticated";
  command: "select" | "insert" | "update" | "delete";
  granted: string | null;
  policies: { name: string; permissive: boolean; using: string | null; check: string | null; says: string | null }[];
  words: { sentence: string; conditions: { link: string; text: string; policy: string; says: string | null }[] };
}

export interface Verdict {
  command: string;
  admitted: boolean;
  reason: string | null;
  policies: { name: string; admits: boolean; condition: string }[];
}

export interface User {
  id: string;
  email: string;
  name: string;
}

export interface Job {
  id: string;
  kind: string;
  name: string | null;
  caller: string | null;
  attempts: number;
  max_attempts: number;
  run_at: string;
  last_error: string | null;
}

export interface Act {
  at: string;
  login: string;
  via: string;
  act: string;
  arguments: Record<string, unknown>;
  outcome: string;
}

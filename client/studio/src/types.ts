/** What Studio's API answers. */

export interface Column {
  name: string;
  /** As SQL has it. */
  quoted: string;
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
  isKeyed: boolean;
  more: boolean;
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
  kind: "table" | "view";
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

export interface FinishedJob {
  entry: string;
  job: string;
  name: string;
  outcome: "done" | "dead";
  attempts: number;
  run_at: string;
  started_at: string;
  finished_at: string;
  ms: number;
}

export interface Act {
  at: string;
  login: string;
  via: string;
  act: string;
  arguments: Record<string, unknown>;
  outcome: string;
}

export interface Cron {
  name: string;
  schedule: string;
  procedure: string;
  isRegistered: boolean;
  last_slot: string | null;
  last_job: string | null;
  paused_at: string | null;
}

export interface Run {
  id: string;
  name: string;
  version: number;
  status: string;
  wait_marker: string | null;
  caller: string;
  attempts: number;
  created_at: string;
  wake_at: string | null;
  finished_at: string | null;
  error: string;
}

export interface Step {
  position: string;
  kind: string;
  name: string;
  is_done: boolean;
  timed_out: boolean;
  failed: boolean;
  /** How often it was tried; null for waits. */
  attempts: number | null;
  due_at: string | null;
  started_at: string;
  finished_at: string | null;
}

export interface RunDetails extends Run {
  user_id: string | null;
  hint: string | null;
  steps: Step[];
  events: { name: string; taken_by: string | null; created_at: string }[];
}

export interface Person {
  id: string;
  email: string;
  name: string;
  email_verified: boolean;
  created_at: string;
  sessions: string;
  providers: string[];
}

export interface Session {
  id: string;
  created_at: string;
  updated_at: string;
  expires_at: string;
  ip_address: string | null;
  user_agent: string | null;
  /** The administrator who acts as the user. */
  visit: string | null;
}

export interface MigrationFile {
  state: string;
  path: string;
  appliedAt: string | null;
}

export interface RequestSummary {
  traceId: string;
  requestId: string;
  at: string;
  name: string;
  status: number | null;
  user: string | null;
  ms: number;
  statements: number;
  jobs: number;
  failed: string | null;
}

export interface Span {
  traceId: string;
  spanId: string;
  parentId: string | null;
  name: string;
  kind: string;
  began: number;
  ms: number;
  attributes: Record<string, string | number | boolean>;
  failed: string | null;
}

export interface Mail {
  kind: string;
  email: string;
  url: string;
  at: string;
}

export interface Operation {
  name: string;
  kind: "query" | "mutation";
  says: string;
  fields: Field[];
  takesFiles: boolean;
}

export interface Field {
  name: string;
  type: "string" | "number" | "integer" | "boolean" | "choice" | "json";
  values: string[];
  required: boolean;
  says: string;
}

export interface DryRun {
  status: number;
  answer: Record<string, unknown>;
  rows: { table: string; inserted: number; updated: number; deleted: number; followed: boolean }[];
  jobs: { name: string; due: string }[];
  messages: Record<string, unknown>[];
  refused: string[];
}

/** What an operator changes as a user. Values are texts; null is null. */
export type Change = { table: string } & (
  | { command: "insert"; set: Cells }
  | { command: "update"; key: string[]; set: Cells; was: Cells }
  | { command: "delete"; key: string[]; was: Cells }
);
export type Cells = Record<string, string | null>;

export interface Entry {
  id: string;
  at: string;
  relation: string;
  audited: boolean;
  row_id: string | null;
  operation: string;
  actor: string | null;
  login: string;
  via: string | null;
  request: string | null;
  columns: string[];
  /** By column the values before and after; null where they are not kept. null: the viewer sees none of the entry. */
  changed: Record<string, [string | null, string | null] | null> | null;
}

export interface Webhooks {
  webhooks: {
    name: string;
    table: string;
    when: string[];
    receiver: string | null;
    isEnv: boolean;
    isProcedure: boolean;
  }[];
  /** Up to 1,000. */
  pending: number;
  dead: number;
}

export interface Delivery {
  id: string;
  webhook: string;
  /** env, or the table of the endpoint; null: it is gone. */
  source: string | null;
  endpoint: string;
  row_key: string;
  attempts: number;
  due_at: string;
  waits_until: string | null;
  last_status: number | null;
  last_error: string | null;
  created_at: string;
  ended_at: string | null;
}

/**
 * From what a transaction did to what is told about it: topics (subscription-topics.ts), and data for those who are sent some.
 * Next hop: `subscription-registry.ts`.
 */
import type { Pgoutput } from "pg-logical-replication";
import type { Logger } from "pino";
import type { ColumnDescription, CrudDefinition } from "../contract/crud.ts";
import { type FollowedTable, listsMembers, narrowingColumns, tableName } from "../crud/followed-tables.ts";
import type { TeamScope } from "../crud/rls.ts";
import { bucketsOf } from "./buckets.ts";
import type { ChangeListener } from "./change-decoder.ts";
import { tableTopics } from "./followed-reads.ts";

/** What one committed transaction tells. */
export interface TransactionEvents {
  /** The transaction's 64-bit id, in decimal. */
  xid: string;
  topics: ReadonlySet<string>;
  /** What ctx.realtime.emit sent, by key: plain JSON as `data`, else encoded as an answer. */
  data: ReadonlyMap<string, { data?: unknown; result?: unknown }>;
  /** What ctx.realtime.send sent, in its order. */
  told: readonly Told[];
  /** Keys of queries that ctx.realtime.refresh wants run again. */
  refresh: ReadonlySet<string>;
  /** Whether it is that of `svc migrate`, after which any query may answer something else. */
  migrated?: boolean;
  /** The traceparent of the call that made it, when that was traced. */
  trace?: string | undefined;
}

/** A message of a handler, or of a durable channel, for the members. */
interface Told {
  topic: string;
  /** Its name. */
  event?: string;
  /** Encoded. */
  body: unknown;
  /** Of a durable channel: its name, who sent it, its number and its time. */
  message?: string;
  from?: unknown;
  id?: number;
  at?: number;
}

export interface EventSink {
  /** A transaction begins in the log; what it tells comes later, or is nothing. */
  begun(xid: bigint): void;
  /**
   * Sessions have ended (sql/auth/notify_session_end.sql). Comes before what the same transaction tells, and before all
   * that commits later.
   */
  end(notice: string): void;
  deliver(events: TransactionEvents): void;
  /** As in `ChangeListener`. */
  broadcast(messages: string): void;
  /** Whether anybody listens to a topic. */
  hears(topic: string): boolean;
  /** As in `ChangeListener`. */
  live(before: bigint, history: string): void;
  lost(): void;
}

/** A transaction that changes more rows than that is told by resource. */
const maxTopics = 2_000;

/** @param followed the tables that watched queries may follow. (Default: none) */
export function transactionEvents(
  resources: readonly CrudDefinition[],
  sink: EventSink,
  log: Logger,
  followed: readonly FollowedTable[] = [],
): ChangeListener {
  const byTable = new Map<string, CrudDefinition[]>();
  for (const crud of resources.filter(({ realtime }) => realtime)) {
    const table = `${crud.schema}.${crud.table}`;
    byTable.set(table, [...(byTable.get(table) ?? []), crud]);
  }
  const tables = new Map(followed.map((table) => [tableName(table), topicsOf(table)]));
  let xid = 0n;
  let its = nothing();

  const cruds = ({ schema, name }: Pgoutput.MessageRelation) => byTable.get(`${schema}.${name}`) ?? [];

  /** To those who watch a query that reads the table. Most tables have none: then nothing is made. */
  const tellWatchers = ({ every, many, columns, narrow, isShared }: TableTopics, { rows, lacks, isNew }: Images) => {
    const { topics } = its;
    if (sink.hears(every)) topics.add(every);
    if (!narrow || topics.has(many) || !sink.hears(many)) return;
    if (topics.size > maxTopics || lacks(columns) || (isShared && !isNew)) topics.add(many);
    else for (const row of rows) for (const topic of narrow(row)) topics.add(topic);
  };

  /** To those who watch the resource's lists and rows. */
  const tellResource = (crud: CrudDefinition, change: Change, { rows, lacks }: Images) => {
    const { topics } = its;
    const all = `all:${crud.prefix}`;
    if (topics.has(all)) return;
    if (topics.size > maxTopics || lacks(crud.realtime?.scoped ? crud.columns : crud.owners)) {
      topics.add(all);
      return;
    }
    for (const row of rows) tell(crud, row, topics);
    const scoped = crud.realtime?.scoped;
    if (scoped) for (const topic of bucketsOf(crud, scoped, change, log) ?? [all]) topics.add(topic);
  };

  return {
    begun(id) {
      xid = id;
      its = nothing();
      sink.begun(id);
    },
    changed(change) {
      const images = imagesOf(change);
      const { schema, name } = change.relation;
      const table = tables.get(`${schema}.${name}`);
      if (table) tellWatchers(table, images);
      for (const crud of cruds(change.relation)) tellResource(crud, change, images);
    },
    truncated({ relations }) {
      for (const relation of relations) {
        for (const crud of cruds(relation)) its.topics.add(`all:${crud.prefix}`);
        const table = tables.get(`${relation.schema}.${relation.name}`);
        if (table) its.topics.add(table.every).add(table.many);
      }
    },
    said(text) {
      const message = parse(text, log);
      const { invalidate, refresh: key, emit, data: sent, result, workflow, user, channel } = message;
      const { topics, data, refresh, told } = its;
      its.migrated ||= message.migrated === true;
      if (typeof workflow === "string") topics.add(`run:${workflow}:${user}`).add(`runs:${user}`);
      if (typeof key === "string") refresh.add(key);
      if (typeof invalidate === "string") topics.add(`key:${invalidate}`);
      if (channel) told.push(channel as Told);
      if (typeof emit === "string") data.set(emit, result === undefined ? { data: sent } : { result });
    },
    traced(traceparent) {
      its.trace = traceparent;
    },
    ended(notice) {
      its.ended.push(notice);
    },
    committed() {
      const { ended, ...events } = its;
      const { topics, data, refresh, told, migrated } = events;
      for (const one of ended) sink.end(one);
      if (migrated || topics.size + data.size + refresh.size + told.length > 0)
        sink.deliver({ xid: xid.toString(), ...events });
    },
    broadcast: (messages) => sink.broadcast(messages),
    live: (before, history) => sink.live(before, history),
    lost: () => sink.lost(),
  };
}

/** What a transaction tells before its first change. */
const nothing = () => ({
  topics: new Set<string>(),
  data: new Map<string, { data?: unknown; result?: unknown }>(),
  refresh: new Set<string>(),
  told: [] as Told[],
  ended: [] as string[],
  migrated: false,
  trace: undefined as string | undefined,
});

type Row = Record<string, unknown>;
type Change = Parameters<ChangeListener["changed"]>[0];

type Known = Pick<ColumnDescription, "name" | "notNull">;

/** A row before and after its change, as far as the log has it. */
interface Images {
  rows: readonly Row[];
  isNew: boolean;
  /** Whether the old value of one of these columns is not in the log. */
  lacks(columns: readonly Known[]): boolean;
}

function imagesOf(change: Change): Images {
  const before = "old" in change ? (change.old ?? change.key) : null;
  const after = "new" in change ? change.new : null;
  // The log lacks the owners of an old row until `svc migrate` has set the replica identity. With owners that may be null
  // the whole row is logged.
  const key = "old" in change && !change.old ? change.key : null;
  // A new partition logs the key alone until then, while the log has the identity of its table: all columns, of which
  // those outside of the key are null. An update that does not change the key has no old row.
  const whole = change.relation.replicaIdentity === "full" && "old" in change ? (change.old ?? {}) : null;
  const isUnlogged = whole !== null && before === null;
  return {
    isNew: change.tag === "insert",
    rows: [before, after].filter((row) => row !== null),
    lacks: (columns) =>
      (key !== null && columns.some(({ name }) => (key[name] ?? null) === null)) ||
      (isUnlogged && columns.length > 0) ||
      (whole !== null && columns.some(({ name, notNull }) => notNull && whole[name] === null)),
  };
}

interface TableTopics {
  every: string;
  many: string;
  /** Columns with the ids of those who read a row, or with its team. */
  columns: readonly Known[];
  /** Of a row's owners or team; null where rows have neither. */
  narrow: ((row: Row) => string[]) | null;
  isShared: boolean;
}

function topicsOf(table: FollowedTable): TableTopics {
  const name = tableName(table);
  const { owners, team, required, isShared = false } = table;
  const columns = narrowingColumns(table).map((name) => ({ name, notNull: required.includes(name) }));
  const many = tableTopics.many(name);
  // The log lacks the team of an old row until `svc migrate` has set the replica identity.
  const ofTeam =
    ({ column, user }: TeamScope) =>
    (row: Row) => {
      const value = row[column] ?? null;
      const topic = value === null ? many : tableTopics.team(name, value);
      return listsMembers(table) ? [topic, tableTopics.own(name, row[user])] : [topic];
    };
  const ofOwners = (row: Row) => owners.map((column) => tableTopics.own(name, row[column]));
  const narrow = owners.length > 0 ? ofOwners : team ? ofTeam(team) : null;
  return { every: tableTopics.every(name), many, columns, narrow, isShared };
}

/** The lists that a row is or was in where they have no buckets, and the row itself. Rows with owners are told to these alone. */
function tell(crud: CrudDefinition, row: Row, topics: Set<string>): void {
  for (const owner of crud.owners.length > 0 ? crud.owners.map(({ name }) => `:${row[name] ?? ""}`) : [""]) {
    if (crud.realtime?.list && !crud.realtime.scoped) topics.add(`list:${crud.prefix}${owner}`);
    topics.add(`get:${crud.prefix}:${row[crud.id.name]}${owner}`);
  }
}

interface Said {
  migrated?: unknown;
  invalidate?: unknown;
  refresh?: unknown;
  emit?: unknown;
  data?: unknown;
  result?: unknown;
  channel?: unknown;
  /** A run of this user's changed (sql/workflows/tell_run.sql). */
  workflow?: unknown;
  user?: unknown;
}

function parse(text: string, log: Logger): Said {
  try {
    const said = Object(JSON.parse(text)) as Said & { json?: unknown };
    return typeof said.json === "string" ? parse(said.json, log) : said;
  } catch {
    log.warn("a message in the write-ahead log is not JSON; ignored");
    return {};
  }
}

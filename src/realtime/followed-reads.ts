/**
 * Turns the tables that a watched query read into the topics that its client subscribes to. The process that answers the
 * query may be another than the one that has the socket. So the answer has a token, which the client sends over its
 * socket. The token is encrypted, because callers must not learn the names of tables. It is valid for one user.
 * Next hop: `connection.ts` takes the token, `transaction-events.ts` publishes changes under the topics.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import { type FollowedTable, listsMembers, nameOfTable, tableName } from "../crud/followed-tables.ts";
import { isOneRow } from "../crud/related-arguments.ts";
import type { TeamScope } from "../crud/rls.ts";
import { type CallerTeams, scopeKey } from "./caller-teams.ts";

/** The transactions and the tables that a watched result was read from. */
export interface Seen {
  /** The transactions that it saw; null if unknown. */
  snapshot: string | null;
  reads: Reads;
}

/** What a query read, as far as that is known (sql/realtime/tables_read.sql). */
export interface Reads {
  tables: readonly string[];
  /** Tables whose changes are not read from the log. */
  unpublished: readonly string[];
  /** While developing, and of channels: functions and views among them that read with the rights of their owner. */
  bypassing: readonly string[];
  /** Whether it read outside of the call's transaction. */
  outside: boolean;
}

/** The contents of a valid token. */
export interface Follow {
  /** The same for the same topics of the same user. */
  id: string;
  topics: readonly string[];
  expiresAt: number;
}

/**
 * Topics of a table: for every change, for rows of an owner, for rows of a team, and for transactions with too many owners or
 * teams to name them.
 */
export const tableTopics = {
  every: (table: string) => `rows:${table}`,
  own: (table: string, owner: unknown) => `own:${table}:${owner ?? ""}`,
  team: (table: string, team: unknown) => `team:${table}:${team}`,
  many: (table: string) => `many:${table}`,
};

/** In milliseconds: a user who loses the right to call the query is notified of its tables' changes for at most this time. */
export const followLifetime = 30 * 60_000;

/** In bytes, of the tables and teams in a token: it fits a frame of the socket (16 KiB) beside the longest key of a query. */
const maxTokenText = 8_500;

/** Tables that one query may follow, so that the token fits a frame of the socket. */
const maxFollowed = 50;

export interface FollowedReadsOptions {
  tables: readonly FollowedTable[];
  /** Newest first: the first encrypts, all decrypt. */
  secrets: readonly string[];
  log: Logger;
  /** In production, callers get no notices. */
  production: boolean;
}

export class FollowedReads {
  readonly #tables: ReadonlyMap<string, FollowedTable>;
  readonly #keys: readonly Buffer[];
  readonly #log: Logger;
  readonly #production: boolean;
  readonly #logged = new Set<string>();

  constructor({ tables, secrets, log, production }: FollowedReadsOptions) {
    this.#tables = new Map(tables.map((table) => [tableName(table), table]));
    this.#keys = secrets.map((secret) => createHash("sha256").update(`svc realtime follows\n${secret}`).digest());
    this.#log = log;
    this.#production = production;
  }

  /** The memberships that say which rows of these tables the caller sees. */
  scopes({ tables }: Reads): TeamScope[] {
    const scopes = tables.flatMap((name) => this.#tables.get(name)?.team ?? []);
    return [...new Map(scopes.map((scope) => [scopeKey(scope), scope])).values()];
  }

  /**
   * The token and the notice that the answer of a watched query has besides its snapshot.
   *
   * @param teams the caller's, for `scopes`
   * @param input of the call
   */
  describe(
    procedure: ProcedureDefinition,
    reads: Reads,
    userId: string | null,
    teams: CallerTeams,
    input: unknown,
  ): { follows?: string; notice?: string } {
    const named = procedure.follows?.map(nameOfTable) ?? [];
    const byResource = this.#notifiedByResource(procedure, input);
    if (byResource === "all") return {};
    const read = reads.tables.filter((name) => this.#tables.has(name) && !named.includes(name) && name !== byResource);
    const followed = [...named, ...read];
    const notice = this.#notice(procedure, reads, followed);
    return {
      ...(followed.length > 0 && { follows: this.#seal(followed.slice(0, maxFollowed), named.length, userId, teams) }),
      ...(notice && !this.#production && { notice }),
    };
  }

  /**
   * The topics of what the `join` of a channel read, and whether every change of it is told. Where something read with its owner's
   * rights, rows of others count, too, and so do all of a table that may show them.
   */
  topicsOf(reads: Reads, user: string | null, teams: CallerTeams): { topics: string[]; isComplete: boolean } {
    const isShared = (name: string) => this.#tables.get(name)?.isShared === true;
    const known = reads.tables.filter((name) => this.#tables.has(name));
    const shared = known.filter(isShared);
    const names = [...shared, ...known.filter((name) => !isShared(name))];
    const whole = reads.bypassing.length > 0 ? names.length : shared.length;
    const unseen = reads.unpublished.length + (reads.tables.length - names.length);
    return { topics: this.#topics({ names, whole, user, teams }), isComplete: unseen === 0 && !reads.outside };
  }

  /** @returns null for a token that was not made here, is over, or is another user's */
  open(token: unknown, userId: string | null): Follow | null {
    if (typeof token !== "string") return null;
    const [id = "", sealed = ""] = token.split(".", 2);
    const text = this.#keys.map((key) => decrypt(key, Buffer.from(sealed, "base64url"))).find((one) => one !== null);
    if (!text) return null;
    const contents = JSON.parse(text) as Contents;
    const { user, expiresAt } = contents;
    if (user !== userId || expiresAt <= Date.now()) return null;
    return { id, topics: this.#topics(contents), expiresAt };
  }

  /** @param whole how many of the first are followed as a whole */
  #seal(names: string[], whole: number, user: string | null, allTeams: CallerTeams): string {
    const key = this.#keys[0] as Buffer;
    // The token must fit a frame of the socket: without their teams the tables are followed as a whole.
    const teams = Buffer.byteLength(JSON.stringify([names, allTeams])) > maxTokenText ? {} : allTeams;
    const subject = JSON.stringify([user, whole, names, teams]);
    const id = createHmac("sha256", key).update(subject).digest("base64url").slice(0, 22);
    const contents: Contents = { user, names, whole, teams, expiresAt: Date.now() + followLifetime };
    return `${id}.${encrypt(key, JSON.stringify(contents)).toString("base64url")}`;
  }

  /** Changes of rows with owners or teams are published to these only, unless the author follows the table as a whole. */
  #topics({ names, whole, user, teams = {} }: Omit<Contents, "expiresAt">): string[] {
    return names.flatMap((name, index) => {
      const table = this.#tables.get(name);
      const { owners = [], team } = table ?? {};
      if (index >= whole && owners.length > 0) return [tableTopics.many(name), tableTopics.own(name, user)];
      const theirs = index >= whole && team ? teams[scopeKey(team)] : undefined;
      if (!theirs) return [tableTopics.every(name)];
      const own = table && listsMembers(table) ? [tableTopics.own(name, user)] : [];
      return [tableTopics.many(name), ...own, ...theirs.map((one) => tableTopics.team(name, one))];
    });
  }

  /**
   * The table of a generated operation: its changes are published under topics of the resource (subscription-topics.ts), so
   * the token does not name it. "all" where the author wants no events, or where a grant decides the topics, as of a list with a
   * scope. Null for a list of teams' rows, because topics of the resource have no teams, and for aggregates and reads of a view:
   * they follow tables like other queries.
   */
  #notifiedByResource({ name, statement, crud }: ProcedureDefinition, input: unknown): string | "all" | null {
    if (!statement) return null;
    if (!crud?.realtime) return "all";
    if (crud.isView) return null;
    const operation = name.slice(name.lastIndexOf(".") + 1);
    const isList = operation === "list";
    if ((isList || operation === "aggregate") && !crud.realtime.list) return "all";
    if (isList && crud.realtime.scoped) return "all";
    const table = tableName({ schema: crud.schema, name: crud.table });
    if (isList && this.#tables.get(table)?.team) return null;
    return isList || (operation === "get" && isOneRow(crud, input)) ? table : null;
  }

  /** Says which changes are not followed, and logs it once. */
  #notice({ name, follows }: ProcedureDefinition, reads: Reads, followed: string[]): string {
    const said: string[] = [];
    if (followed.length > maxFollowed) {
      said.push(`It reads ${followed.length} tables; changes of the first ${maxFollowed} alone are followed.`);
    }
    if (!follows) said.push(...this.#unfollowed(name, reads));
    const text = said.length > 0 ? `Those who watch "${name}" miss changes. ${said.join(" ")}` : "";
    if (text && (!this.#production || followed.length > maxFollowed) && !this.#logged.has(text)) {
      this.#logged.add(text);
      this.#log.warn({ operation: name }, text);
    }
    return text;
  }

  #unfollowed(name: string, { tables, unpublished, bypassing, outside }: Reads): string[] {
    // Those of the application may be foreign or unlogged, and never be published.
    const late = unpublished.filter((table) => table.startsWith("svc.") && this.#tables.has(table));
    const unknown = [
      ...unpublished.filter((table) => !late.includes(table)),
      ...tables.filter((table) => !this.#tables.has(table)),
    ];
    const own = tables.filter((name) => {
      const { owners = [], team, isShared } = this.#tables.get(name) ?? {};
      return (owners.length > 0 || team) && !isShared;
    });
    return [
      late.length > 0 && `Changes of ${list(late)} are not published yet: run svc codegen and svc migrate.`,
      unknown.length > 0 &&
        `Changes of ${list(unknown)} are not read from the log: not a table of the application's schema, or one whose ` +
          `createCrud says realtime: false. Call ctx.realtime.invalidate(${JSON.stringify(name)}) where it changes.`,
      outside &&
        "It reads outside of its transaction, by ctx.unsafeDb or ctx.read: name those tables by .follows(schema.table).",
      bypassing.length > 0 &&
        own.length > 0 &&
        `${list(bypassing)} reads with the rights of its owner, but of ${list(own)} the rows of the caller and of their teams alone are ` +
          "followed: name the tables whose other rows count by .follows(schema.table).",
      (unknown.length > 0 || outside || (bypassing.length > 0 && own.length > 0)) &&
        ".follows() without tables says that nothing is missing.",
    ].filter((one): one is string => typeof one === "string");
  }
}

interface Contents {
  user: string | null;
  names: string[];
  whole: number;
  /** Missing in tokens of earlier versions. */
  teams?: CallerTeams;
  expiresAt: number;
}

const list = (names: readonly string[]) => names.join(", ");

const algorithm = "aes-256-gcm";
const [ivLength, tagLength] = [12, 16];

function encrypt(key: Buffer, text: string): Buffer {
  const iv = randomBytes(ivLength);
  const cipher = createCipheriv(algorithm, key, iv);
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

function decrypt(key: Buffer, bytes: Buffer): string | null {
  if (bytes.length <= ivLength + tagLength) return null;
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivLength), { authTagLength: tagLength });
  decipher.setAuthTag(bytes.subarray(ivLength, ivLength + tagLength));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(ivLength + tagLength)), decipher.final()]).toString("utf8");
  } catch {
    return null;
  }
}

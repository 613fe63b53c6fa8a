/**
 * Maps changes to the watched queries that they concern. A watched query subscribes to topics, and a change is published
 * under topics. Only this file decides which topics a query subscribes to.
 *
 *   all:tasks              every query of a resource, when there are too many changes to name each list:tasks             its
 *   lists, where every caller may be notified of every row list:tasks:<user>      the lists of one user, where rows have owners
 *   get:tasks:<id>[:<user>]  one row, likewise bucket:<b>[:<user>]    the lists of a scope, likewise runs:<user>, run:<id>:<user>
 *   runs of workflows, for workflows.list and workflows.get rows:<table>           a table that a watched query reads
 *   (followed-reads.ts) own:<table>:<user>, many:<table>  the same where rows have owners: rows of this owner; changes of too
 *   many owners to name team:<table>:<team>  the same where rows have teams key:<name>[::<args>]   what ctx.realtime names
 *
 * The log knows nothing of policies, so an event holds no data: a client that gets one calls the query again with
 * its own identity, and the policies decide what it sees.
 * Next hop: `transaction-events.ts` makes topics of changes, `subscription-registry.ts` finds the subscribers.
 */

import type { CrudDefinition } from "../contract/crud.ts";
import type { DefinedAt } from "../contract/defined-at.ts";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import { requireOneOf, scopesOf } from "../contract/scopes.ts";
import { listArguments } from "../crud/crud-list.ts";
import type { ScopedRealtime } from "../crud/crud-types.ts";
import { tableName } from "../crud/followed-tables.ts";
import { relatedTables } from "../crud/related-arguments.ts";
import { wireForms } from "../crud/wire-kinds.ts";
import { requireShallowJson } from "../http/body.ts";
import { jsonIn } from "../kit/json-in.ts";
import type { ApiKey } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import { bucketOf, bucketTopic } from "./buckets.ts";
import { tableTopics } from "./followed-reads.ts";
import { keyOf } from "./key.ts";

/** A subscription that a client has requested. */
export interface Watched {
  /** `tasks.list`, or with arguments `tasks.get::{"id":7}`. */
  key: string;
  topics: string[];
  /** Set when it is watched with a grant: the name of the query in events. */
  subscriptionKey?: string;
}

/** A query for which a grant may be given. */
export interface Grantable extends Required<Watched> {
  policy: "authorized" | "public";
  anonymous: boolean;
  definedAt: DefinedAt | undefined;
  /** Where lists have buckets: the resource's rules, which decide whether the caller may watch. */
  scoped: ScopedRealtime | null;
  /** Where lists have buckets: the tables of the rows that these arguments include or filter by. */
  related: readonly string[];
}

export class SubscriptionTopics {
  readonly #queries: ReadonlyMap<string, ProcedureDefinition>;
  readonly #resources: ReadonlyMap<string, CrudDefinition>;

  constructor(procedures: ReadonlyMap<string, ProcedureDefinition>, resources: readonly CrudDefinition[]) {
    this.#queries = new Map([...procedures].filter(([, { kind }]) => kind === "query"));
    this.#resources = new Map(resources.map((crud) => [crud.prefix, crud]));
  }

  /**
   * The topics of a caller's watched query.
   *
   * @param userId   null for an anonymous caller
   * @param followed topics of what the query's last answer was read from
   * @param apiKey   of the caller, if it calls with one
   * @throws SvcError NOT_FOUND, UNAUTHORIZED, FORBIDDEN, BAD_REQUEST
   */
  watch(key: unknown, userId: string | null, followed: readonly string[] = [], apiKey?: ApiKey): Watched {
    if (typeof key !== "string" || key.length > maxKey) {
      throw new SvcError("BAD_REQUEST", `query must be a key of at most ${maxKey} characters.`, {
        hint: 'Send "tasks.list", or with arguments "tasks.get::{\\"id\\":7}".',
      });
    }
    const { name, args } = split(key);
    this.#find(name, userId, apiKey);
    argumentsIn(args); // refuses arguments that are not JSON: no event could have such a key
    if (this.#scopedList(name)) {
      throw new SvcError("GRANT_REQUIRED", undefined, {
        hint: "Ask POST /api/realtime/query/authorize for a token, and send it with subscribeQuery.",
      });
    }
    return { key, topics: [...ofKey(name, args), ...this.#ofRows(name, args, userId, followed), ...followed] };
  }

  /**
   * The topics that a grant would open to the caller, if the caller may have the grant.
   *
   * @param args    in the form in which they were sent: the query's key is made of them
   * @param decoded in the form that a handler gets
   * @param apiKey  of the caller, if it calls with one
   * @throws SvcError NOT_FOUND, UNAUTHORIZED, FORBIDDEN, BAD_REQUEST, VALIDATION_FAILED
   */
  grantable(query: unknown, args: unknown, decoded: unknown, userId: string | null, apiKey?: ApiKey): Grantable {
    const name = typeof query === "string" ? query : "";
    const { anonymous, definedAt } = this.#find(name, userId, apiKey);
    const key = keyOf(name, Object(args) as object);
    if (key.length > maxKey) throw new SvcError("BAD_REQUEST", `A query's key has at most ${maxKey} characters.`);
    const crud = this.#scopedList(name);
    const scoped = crud?.realtime?.scoped ?? null;
    if (!crud || !scoped) {
      const policy = anonymous ? "public" : "authorized";
      return {
        key,
        subscriptionKey: key,
        topics: this.watch(key, userId, [], apiKey).topics,
        policy,
        anonymous,
        definedAt,
        scoped,
        related: [],
      };
    }
    listArguments(crud, decoded); // throws if the list would refuse them
    const bucket = this.#bucket(crud, scoped, decoded);
    const topics = [...ofKey(name, split(key).args), `all:${crud.prefix}`, bucketTopic(bucket, crud, userId)];
    const related = relatedTables(crud, decoded);
    const { policy } = scoped;
    return { key, subscriptionKey: `${name}#${bucket}`, topics, policy, anonymous, definedAt, scoped, related };
  }

  #bucket(crud: CrudDefinition, scoped: ScopedRealtime, decoded: unknown): string {
    const scope = scoped.scope((decoded ?? {}) as never);
    const condition = Object.entries(Object(scope)).find(([, value]) => isCondition(value));
    if (condition) {
      throw new SvcError("BAD_REQUEST", "With these arguments the list has no scope.", {
        hint: `scope of "${crud.prefix}" returned ${condition[0]}: a condition with an operator, which no row has for a scope. Filter by the value alone, as in { ${condition[0]}: "a" }.`,
      });
    }
    try {
      return bucketOf(scoped, scope, `scope of "${crud.prefix}"`);
    } catch (cause) {
      // Usually the arguments lack the value that decides the scope.
      const { message } = cause as Error;
      throw new SvcError("BAD_REQUEST", "With these arguments the list has no scope.", { hint: message, cause });
    }
  }

  /** @throws SvcError FORBIDDEN for an API key: events tell that rows change, so a table must say its scopes by `scoped()` */
  requireScope(name: string, apiKey: ApiKey | undefined): void {
    const query = this.#queries.get(name);
    if (apiKey) requireOneOf(apiKey, (query && scopesOf(query)) ?? []);
  }

  #find(name: string, userId: string | null, apiKey?: ApiKey): ProcedureDefinition {
    const query = this.#queries.get(name);
    if (!query) throw noQuery();
    if (!query.anonymous && userId === null) throw new SvcError("UNAUTHORIZED");
    this.requireScope(name, apiKey);
    return query;
  }

  /** The resource whose list this is, if its lists have buckets. */
  #scopedList(name: string): CrudDefinition | undefined {
    const crud = name.endsWith(".list") ? this.#resources.get(name.slice(0, -".list".length)) : undefined;
    return crud?.realtime?.scoped ? crud : undefined;
  }

  #ofRows(name: string, args: string | null, userId: string | null, followed: readonly string[]): string[] {
    if (name.startsWith("workflows.") && userId !== null) return ofRuns(name, args, userId);
    const dot = name.lastIndexOf(".");
    const crud = this.#resources.get(name.slice(0, dot));
    if (!crud?.realtime) return [];
    const operation = name.slice(dot + 1);
    const owner = crud.owners.length > 0 ? `:${userId ?? ""}` : "";
    const all = `all:${crud.prefix}`;
    if (operation === "list") {
      if (!crud.realtime.list) return [];
      const table = tableName({ schema: crud.schema, name: crud.table });
      const follows = followed.includes(tableTopics.many(table)) || followed.includes(tableTopics.every(table));
      return follows ? [all] : [all, `list:${crud.prefix}${owner}`];
    }
    if (operation !== "get") return [];
    const id = idOf(crud, args);
    return id === null ? [all] : [all, `get:${crud.prefix}:${id}${owner}`];
  }
}

/** What `filters` take for an operator: as a scope it would be a bucket that no row is in. */
const isCondition = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.hasOwn(value, "op") && Object.hasOwn(value, "value");

const noQuery = () =>
  new SvcError("NOT_FOUND", "There is no query or channel of that name.", {
    hint: "Name a query or a channel of defineApi(), such as tasks.list, and no mutation.",
  });

/** In characters. */
const maxKey = 4096;

/** A key's two parts. */
export function split(key: string): { name: string; args: string | null } {
  const at = key.indexOf("::");
  return at < 0 ? { name: key, args: null } : { name: key.slice(0, at), args: key.slice(at + 2) };
}

const ofKey = (name: string, args: string | null): string[] =>
  args === null ? [`key:${name}`] : [`key:${name}`, `key:${name}::${args}`];

/** A run notifies only its own user, even if other users know its id. */
function ofRuns(name: string, args: string | null, userId: string): string[] {
  if (name === "workflows.list") return [`runs:${userId}`];
  const { id } = argumentsIn(args);
  return name === "workflows.get" && typeof id === "string" ? [`run:${id.toLowerCase()}:${userId}`] : [];
}

/** Of a key, plain or encoded. */
function argumentsIn(args: string | null): { id?: unknown } {
  requireShallowJson(args ?? "");
  const parsed = jsonIn(args ?? "null");
  if (parsed === undefined) throw new SvcError("BAD_REQUEST", "What follows :: in the query's key is not JSON.");
  const plain = Object(parsed) as { json?: unknown };
  return Object(plain.json ?? plain);
}

/**
 * The id among the arguments of a get, plain or encoded, as the log writes it: a bigint without leading zeros, a UUID
 * in lower case. Null where the get itself would refuse it.
 */
function idOf({ id: column }: CrudDefinition, args: string | null): string | null {
  const { id } = argumentsIn(args);
  const accepted = id === null ? undefined : wireForms[column.kind].accept(id, column.values);
  if (accepted === undefined) return null;
  return column.kind === "uuid" ? String(accepted).toLowerCase() : String(accepted);
}

/**
 * Which changes concern which queries. A query that is watched hears topics, and a change is told under topics; who hears
 * what is decided here alone.
 *
 *   all:tasks              everything about a resource, when single changes are too many to name
 *   list:tasks             its lists, where everybody may hear of every row
 *   list:tasks:<user>      the lists of one user, where rows have owners
 *   get:tasks:<id>[:<user>]  one row, likewise
 *   key:<name>[::<args>]   what ctx.realtime names
 *
 * The log knows nothing of policies, so an event is only a hint: who hears one asks again, under their own identity.
 * Next hop: `transaction-events.ts` makes topics of changes, `hub.ts` finds who listens.
 */
import type { CrudDefinition } from "../define/crud-definition.ts";
import type { ProcedureDefinition } from "../define/procedure.ts";
import { SvcError } from "../errors/svc-error.ts";

/** A subscription as a client asks for it. */
export interface Watched {
  /** `tasks.list`, or with arguments `tasks.get::{"id":7}`. */
  key: string;
  topics: string[];
}

export class WatchRules {
  readonly #queries: ReadonlyMap<string, ProcedureDefinition>;
  readonly #resources: ReadonlyMap<string, CrudDefinition>;

  constructor(procedures: ReadonlyMap<string, ProcedureDefinition>, resources: readonly CrudDefinition[]) {
    this.#queries = new Map([...procedures].filter(([, { kind }]) => kind === "query"));
    this.#resources = new Map(resources.map((crud) => [crud.prefix, crud]));
  }

  /**
   * What a caller hears who watches a query.
   *
   * @param userId null for an anonymous caller
   * @throws SvcError NOT_FOUND, UNAUTHORIZED, BAD_REQUEST
   */
  watch(key: unknown, userId: string | null): Watched {
    if (typeof key !== "string" || key.length > maxKey) {
      throw new SvcError("BAD_REQUEST", `query must be a key of at most ${maxKey} characters.`, {
        hint: 'Send "tasks.list", or with arguments "tasks.get::{\\"id\\":7}".',
      });
    }
    const { name, args } = split(key);
    const query = this.#queries.get(name);
    if (!query) throw new SvcError("NOT_FOUND", "There is no query of that name.");
    if (!query.anonymous && userId === null) throw new SvcError("UNAUTHORIZED");
    return {
      key,
      topics: [`key:${name}`, ...(args === null ? [] : [`key:${key}`]), ...this.#ofRows(name, args, userId)],
    };
  }

  #ofRows(name: string, args: string | null, userId: string | null): string[] {
    const dot = name.lastIndexOf(".");
    const crud = this.#resources.get(name.slice(0, dot));
    if (!crud?.realtime) return [];
    const operation = name.slice(dot + 1);
    const owner = crud.owner ? `:${userId ?? ""}` : "";
    const all = `all:${crud.prefix}`;
    if (operation === "list") return crud.realtime.list ? [all, `list:${crud.prefix}${owner}`] : [];
    if (operation !== "get") return [];
    const id = idOf(args);
    return id === null ? [all] : [all, `get:${crud.prefix}:${id}${owner}`];
  }
}

/** In characters. */
const maxKey = 4096;

/** A key's two parts. */
export function split(key: string): { name: string; args: string | null } {
  const at = key.indexOf("::");
  return at < 0 ? { name: key, args: null } : { name: key.slice(0, at), args: key.slice(at + 2) };
}

/** The id among the arguments of a get, plain or encoded; as text, for a bigint is one on the wire. */
function idOf(args: string | null): string | null {
  try {
    const parsed = JSON.parse(args ?? "null");
    const { id } = Object(parsed.json ?? parsed) as { id?: unknown };
    return typeof id === "string" || typeof id === "number" ? String(id) : null;
  } catch {
    throw new SvcError("BAD_REQUEST", "What follows :: in the query's key is not JSON.");
  }
}

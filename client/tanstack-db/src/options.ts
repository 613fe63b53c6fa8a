/**
 * `svcCollectionOptions`: a collection of TanStack DB over a query of the backend and the mutations of its rows.
 * Next hop: `view.ts` shows rows, `outbox.ts` keeps mutations.
 */
import {
  type ArgumentsOf,
  type IncludeOf,
  type InputOf,
  type Mutation,
  type OnlyKnown,
  type OutputOf,
  operationKey,
  type Plain,
  type Query,
  type Resource,
  type ResourceInput,
  type ResourceOutput,
  type ResourceQuery,
  type SelectOf,
} from "@svc/client";
import type { BaseCollectionConfig, CollectionConfig, PendingMutation } from "@tanstack/db";
import type { Outbox } from "./outbox.ts";
import type { AnyClient } from "./send.ts";
import { type Row, View } from "./view.ts";

type Key = string | number;

/** The rows of a query that answers with an array, or with `{ data: [...] }`. */
export type RowOf<Output> = Output extends readonly (infer R extends object)[]
  ? R
  : Output extends { data: readonly (infer R extends object)[] }
    ? R
    : never;

/** What a mutation of a collection is made of. */
export interface Change<R> {
  /** As it is shown: after an insert or update, or before it is removed. */
  row: R;
  /** Of an update the changed properties. */
  changes: Partial<R>;
  /** When the row was changed that the user saw, for `ifUnmodifiedSince`; of rows with `updatedAt`. */
  since: string | undefined;
}

/** A mutation whose arguments are `Args`; or any, with a function that makes its arguments. */
export type Sent<M extends Mutation, R, Args> =
  | (M & (Args extends InputOf<M> ? unknown : never))
  | { mutation: M; args: (change: Change<R>) => InputOf<M> };

type IdOf<R> = R extends { id: infer Id } ? { id: Id } : { id: never };

export interface Mutations<R, Insert extends Mutation, Update extends Mutation, Remove extends Mutation> {
  /** Keeps mutations until they are saved. From `createOutbox`; without it nothing can be changed. */
  outbox?: Outbox | undefined;
  /** Is called with a whole row. (Default: rows cannot be inserted) */
  insert?: Sent<Insert, R, R> | undefined;
  /** Is called with the `id`, what was changed, and `ifUnmodifiedSince`. (Default: rows cannot be updated) */
  update?: Sent<Update, R, IdOf<R> & Partial<R>> | undefined;
  /** Is called with the `id`. (Default: rows cannot be removed) */
  remove?: Sent<Remove, R, IdOf<R>> | undefined;
  /** Whether a page that starts without a connection shows the last rows. They lie on the device until the user signs out. (Default: false) */
  keepRows?: boolean | undefined;
}

type Others<R extends object, K extends Key> = Omit<
  BaseCollectionConfig<R, K>,
  "schema" | "getKey" | "onInsert" | "onUpdate" | "onDelete" | "syncMode" | "utils"
>;

/** What is passed to `createCollection`. */
export type SvcCollectionOptions<R extends object, K extends Key> = CollectionConfig<R, K> & {
  id: string;
  schema?: never;
  singleResult?: never;
};

/**
 * Options of a collection that has the rows of a query, as the service shows them to the signed-in user, and follows every
 * change. Changes of the collection are shown at once, kept on the device, and sent when there is a connection.
 *
 * @param options.query answers with an array, or with `{ data: [...] }`
 * @param options.id (Default: the query's name and arguments)
 * @throws TypeError for mutations or `keepRows` without an outbox, and for an outbox of another client
 * @example
 * const tasks = createCollection(svcCollectionOptions({
 *   client, outbox, query: api.tasks.list, args: { limit: 100 }, getKey: (task) => task.id,
 *   insert: api.tasks.create, update: api.tasks.update, remove: api.tasks.remove,
 * }));
 */
export function svcCollectionOptions<
  R extends Resource,
  Input,
  Output,
  K extends Key,
  const I extends IncludeOf<R> = Record<never, never>,
  const S extends SelectOf<R> = SelectOf<R>,
  Insert extends Mutation = never,
  Update extends Mutation = never,
  Remove extends Mutation = never,
>(
  options: {
    client: AnyClient;
    query: ResourceQuery<R, Input, Output> & OnlyKnown<R, I>;
    args?: ResourceInput<R, Input, I, S>;
    getKey: (row: RowOf<ResourceOutput<R, Output, I, S>>) => K;
  } & Mutations<RowOf<ResourceOutput<R, Output, I, S>>, Insert, Update, Remove> &
    Others<RowOf<ResourceOutput<R, Output, I, S>>, K>,
): SvcCollectionOptions<RowOf<ResourceOutput<R, Output, I, S>>, K>;
export function svcCollectionOptions<
  Q extends Query,
  K extends Key,
  Insert extends Mutation = never,
  Update extends Mutation = never,
  Remove extends Mutation = never,
>(
  options: {
    client: AnyClient;
    query: Q & Plain<Q>;
    args?: ArgumentsOf<Q>;
    getKey: (row: RowOf<OutputOf<Q>>) => K;
  } & Mutations<RowOf<OutputOf<Q>>, Insert, Update, Remove> &
    Others<RowOf<OutputOf<Q>>, K>,
): SvcCollectionOptions<RowOf<OutputOf<Q>>, K>;
export function svcCollectionOptions(options: object): object {
  const { client, query, args, outbox, insert, update, remove, getKey, keepRows = false, ...others } = options as Given;
  if (!outbox && (insert || update || remove || keepRows)) {
    throw new TypeError("Mutations and keepRows need an outbox: pass that of createOutbox(client).");
  }
  if (outbox && outbox.client !== client) throw new TypeError("This outbox is of another client.");
  const id = others.id ?? operationKey(query, args);
  let view: View | undefined;

  const handler = (type: "insert" | "update" | "delete", sent: AnySent) => {
    const { mutation, args: argsOf } = "mutation" in sent ? sent : { mutation: sent, args: undefined };
    const entryOf = ({ key, modified, changes: changed, original }: PendingMutation<Row>) => {
      // Rows of live queries have properties of TanStack DB.
      const row = own(type === "delete" ? original : modified);
      const changes = own(changed);
      const at = view?.changedAt(key);
      const since = at instanceof Date ? at.toISOString() : typeof at === "string" ? at : undefined;
      const usual = () =>
        type === "insert"
          ? row
          : type === "delete"
            ? { id: row.id }
            : { id: row.id, ...changes, ...(since && { ifUnmodifiedSince: since }) };
      const sentArgs = (argsOf ? argsOf({ row, changes, since }) : usual()) as object;
      const isGuarded = type === "update" && (argsOf ? "ifUnmodifiedSince" in sentArgs : "updatedAt" in row);
      return {
        ...{ type, isGuarded, args: sentArgs },
        ...{ operation: mutation.name, collection: id, rowKey: key as Key, row: type === "update" ? changes : row },
      };
    };
    return async ({ transaction }: { transaction: { mutations: PendingMutation<Row>[] } }) => {
      await outbox?.add(transaction.mutations.map(entryOf));
    };
  };

  const mutationOf = (sent: AnySent | undefined) => (sent && "mutation" in sent ? sent.mutation : sent);
  const collection: CollectionConfig<Row, Key> = {
    ...others,
    id,
    getKey,
    sync: {
      rowUpdateMode: "full",
      sync: (sync) => {
        const mutations = { insert: mutationOf(insert), update: mutationOf(update) };
        const begun = new View({ client, outbox, id, query, args, getKey, mutations, keepRows }, sync);
        view = begun;
        return () => begun.end();
      },
    },
    ...(insert && { onInsert: handler("insert", insert) }),
    ...(update && { onUpdate: handler("update", update) }),
    ...(remove && { onDelete: handler("delete", remove) }),
  };
  return collection;
}

type AnySent = Sent<Mutation, Row, Row>;
type Given = Others<Row, Key> & {
  client: AnyClient;
  query: Query;
  args?: unknown;
  getKey: (row: Row) => Key;
  outbox?: Outbox;
  insert?: AnySent;
  update?: AnySent;
  remove?: AnySent;
  keepRows?: boolean;
};

const own = (row: object): Row => Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith("$")));

/**
 * Buckets of lists, by policy, resourceIdentity and scope: the bucket of a list, and the old and new buckets of a changed row.
 * Next hop: `grants.ts` admits subscribers to a bucket, `transaction-events.ts` notifies it.
 */
import { createHash } from "node:crypto";
import type { Pgoutput } from "pg-logical-replication";
import type { Logger } from "pino";
import type { CrudDefinition } from "../contract/crud.ts";
import { scopeText } from "../crud/crud-realtime.ts";
import type { ScopedRealtime } from "../crud/crud-types.ts";

/** A bucket's name. It does not reveal the scope, and is the same in every process. */
export function bucketOf({ policy, resourceIdentity }: ScopedRealtime, scope: unknown, source: string): string {
  const named = JSON.stringify([policy, resourceIdentity, scopeText(scope, source)]);
  return createHash("sha256").update(named).digest("base64url").slice(0, 22);
}

/** The topic of a bucket; rows that only their owners may see notify only these here too. */
export const bucketTopic = (bucket: string, crud: CrudDefinition, owner: unknown): string =>
  crud.owners.length > 0 ? `bucket:${bucket}:${owner ?? ""}` : `bucket:${bucket}`;

type Change = Pgoutput.MessageInsert | Pgoutput.MessageUpdate | Pgoutput.MessageDelete;

/**
 * The topics of a change: those of the old row and of the new row.
 *
 * @returns null if they cannot be determined: then all watchers must query again
 */
export function bucketsOf(crud: CrudDefinition, scoped: ScopedRealtime, change: Change, log: Logger): string[] | null {
  // The old row is logged completely only after `svc migrate` has set the replica identity.
  if (change.tag !== "insert" && !change.old) return null;
  const rows = [change.tag === "insert" ? null : change.old, change.tag === "delete" ? null : change.new];
  const source = `scopeFromRow of "${crud.prefix}"`;
  try {
    return rows.flatMap((logged) => {
      if (!logged) return [];
      const row = Object.fromEntries(
        crud.columns.map((column) => [column.property, column.fromDriver(logged[column.name])]),
      );
      const bucket = bucketOf(scoped, scoped.scopeFromRow({ row: row as never, ctx: { log } }), source);
      if (crud.owners.length === 0) return [bucketTopic(bucket, crud, null)];
      return crud.owners.map(({ name }) => bucketTopic(bucket, crud, logged[name]));
    });
  } catch (err) {
    log.error({ err, resource: crud.prefix }, `${source} failed; all of its lists are told`);
    return null;
  }
}

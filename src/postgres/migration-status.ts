/**
 * Which files a database has and which it lacks, for `svc migrate status`. Reads what `migrate.ts` recorded in
 * `svc_private.applied_migrations` and `applied_sql`, and changes nothing.
 */
import pg from "pg";
import { checksum, type Folders, scopes } from "./ledger.ts";
import { type MigrationFile, readFolder } from "./migration-files.ts";
import { queueRevision, wantedQueueRevision } from "./queue.ts";

export interface FileStatus {
  /** `scope/migrations/…` or `scope/sql/…`, as `svc migrate` reports it; `platform/queue` where its schema is an old one. */
  path: string;
  /**
   * `pending`: `svc migrate` would apply it. `edited`: a migration whose text is no longer what was applied, which
   * `svc migrate` refuses. `missing`: a migration that was applied, and whose file is gone.
   */
  state: "applied" | "pending" | "edited" | "missing";
  /** When it was applied last; null when it never was. */
  appliedAt: Date | null;
}

/** The files of both scopes, in the order in which `svc migrate` lists them: platform first. */
export async function migrationStatus({ adminUrl, ...folders }: Folders & { adminUrl: string }): Promise<FileStatus[]> {
  const client = new pg.Client({ connectionString: adminUrl, application_name: "svc migrate status" });
  await client.connect();
  try {
    const applied = await readApplied(client);
    const files: FileStatus[] = [];
    if ((await queueRevision(client)) < wantedQueueRevision) {
      files.push({ path: "platform/queue", state: "pending", appliedAt: null });
    }
    for (const { scope, folder } of scopes(folders)) {
      const migrations = await readFolder(`${folder}/migrations`);
      files.push(
        ...statusOf(`${scope}/migrations/`, migrations, applied, "edited"),
        ...gone(scope, migrations, applied),
      );
      files.push(...statusOf(`${scope}/sql/`, await readFolder(`${folder}/sql`), applied, "pending"));
    }
    return files;
  } finally {
    await client.end();
  }
}

type Applied = Map<string, { checksum: string; appliedAt: Date }>;

/** By path; empty for a database that svc has never seen. */
async function readApplied(client: pg.Client): Promise<Applied> {
  const { rows } = await client.query("select to_regclass('svc_private.applied_sql') is not null as exists");
  if (!rows[0].exists) return new Map();
  const applied = await client.query(
    `select scope || '/migrations/' || name as path, checksum, applied_at from svc_private.applied_migrations
     union all
     select scope || '/sql/' || path, checksum, applied_at from svc_private.applied_sql`,
  );
  return new Map(applied.rows.map((row) => [row.path, { checksum: row.checksum, appliedAt: row.applied_at }]));
}

/** @param changed what a different text means: sql/ is applied again, a migration never is */
function statusOf(
  prefix: string,
  files: MigrationFile[],
  applied: Applied,
  changed: "edited" | "pending",
): FileStatus[] {
  return files.map(({ path, text }) => {
    const record = applied.get(prefix + path);
    const isSame = record?.checksum === checksum(text);
    const state = record ? (isSame ? "applied" : changed) : "pending";
    return { path: prefix + path, state, appliedAt: record?.appliedAt ?? null };
  });
}

function gone(scope: string, files: MigrationFile[], applied: Applied): FileStatus[] {
  const prefix = `${scope}/migrations/`;
  const present = new Set(files.map(({ path }) => prefix + path));
  return [...applied]
    .filter(([path]) => path.startsWith(prefix) && !present.has(path))
    .map(([path, { appliedAt }]) => ({ path, state: "missing", appliedAt }));
}

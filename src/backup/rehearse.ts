/**
 * Restores a backup's database under a temporary name on the application's server, and drops it again.
 * Next hop: `restore.ts`, which compares the rows before it commits.
 */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { BackupError } from "./error.ts";
import { type RestoreOptions, restoreBackup } from "./restore.ts";

/** @throws BackupError when it cannot be restored, or the restored rows differ */
export async function rehearseRestore(options: Omit<RestoreOptions, "driver" | "force">): Promise<void> {
  const client = new pg.Client({ connectionString: options.adminUrl, application_name: "svc db verify" });
  await client.connect();
  const name = `svc_verify_${randomBytes(6).toString("hex")}`;
  const url = new URL(options.adminUrl);
  url.pathname = `/${name}`;
  try {
    // Not template1: a host may have added objects to it.
    await client.query(`create database ${name} template template0`).catch((cause) => {
      throw new BackupError(`A database for the trial could not be created: ${cause.message}.`, {
        hint: "The login of DATABASE_ADMIN_URL needs CREATEDB for svc db verify --deep.",
        cause,
      });
    });
    await restoreBackup({ ...options, adminUrl: url.href });
  } finally {
    await client.query(`drop database if exists ${name} with (force)`);
    await client.end();
  }
}

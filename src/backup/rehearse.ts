/**
 * Restores a backup's database under a temporary name on the application's server, and drops it again.
 * Next hop: `restore.ts`, which compares the rows before it commits.
 */
import { withTemporaryDatabase } from "../migrate/scratch.ts";
import { BackupError } from "./error.ts";
import { type RestoreOptions, restoreBackup } from "./restore.ts";

/** @throws BackupError when it cannot be restored, or the restored rows differ */
export function rehearseRestore(options: Omit<RestoreOptions, "driver" | "force">): Promise<void> {
  return withTemporaryDatabase(options.adminUrl, "svc_verify", refuse, (adminUrl) =>
    restoreBackup({ ...options, adminUrl }),
  );
}

function refuse(cause: Error): never {
  throw new BackupError(`A database for the trial could not be created: ${cause.message}.`, {
    hint: "The login of DATABASE_ADMIN_URL needs CREATEDB for svc db verify --deep.",
    cause,
  });
}

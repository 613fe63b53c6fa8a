/** Node names no path in the error of a write to an open file, so the log would not tell which disk is full. */

/** Errors of the disk itself. Others may come from the source of the bytes, such as a connection. */
const ofDisk = new Set<string | undefined>(["ENOSPC", "EDQUOT", "EIO"]);

/** Adds the path to an error of the disk that names none. @returns the same error */
export function namePath(error: unknown, path: string): unknown {
  const failed = error as NodeJS.ErrnoException;
  if (failed instanceof Error && ofDisk.has(failed.code) && failed.path === undefined) {
    failed.path = path;
    failed.message += ` '${path}'`;
  }
  return failed;
}

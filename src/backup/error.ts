/** A backup error with a remedy: taking, checking or restoring failed. */
export class BackupError extends Error {
  override readonly name = "BackupError";

  /** @param hint what to do; shown below the message */
  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(options.hint ? `${message}\n  ${options.hint}` : message, { cause: options.cause });
  }
}

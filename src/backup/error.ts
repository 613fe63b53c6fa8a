/** A backup that could not be taken, checked or restored, for a reason that a person can do something about. */
export class BackupError extends Error {
  override readonly name = "BackupError";

  /** @param hint what to do; shown below the message */
  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(options.hint ? `${message}\n  ${options.hint}` : message, { cause: options.cause });
  }
}

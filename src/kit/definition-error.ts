/** An error in the application's own definitions, found at definition time or at start. */
export class DefinitionError extends Error {
  override readonly name = "DefinitionError";
  readonly hint: string | undefined;

  /** @param options.hint what to write instead; shown below the message */
  constructor(message: string, options: { hint?: string } = {}) {
    super(options.hint ? `${message}\n  ${options.hint}` : message);
    this.hint = options.hint;
  }
}

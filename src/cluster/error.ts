/** The one error of the cluster: what went wrong, then what a person can do about it. Thrown by every file beside it. */

export class ClusterError extends Error {
  override readonly name = "ClusterError";
  /** The remedy alone; `message` ends in it. */
  readonly hint: string;

  constructor(problem: string, hint: string, options?: ErrorOptions) {
    super(`${problem} ${hint}`, options);
    this.hint = hint;
  }
}

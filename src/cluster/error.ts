/** The cluster's only error class: the problem, then the remedy. Thrown by every file in this folder. */

export class ClusterError extends Error {
  override readonly name = "ClusterError";
  /** The remedy; `message` ends with it. */
  readonly hint: string;

  constructor(problem: string, hint: string, options?: ErrorOptions) {
    super(`${problem} ${hint}`, options);
    this.hint = hint;
  }
}

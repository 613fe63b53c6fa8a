/** The cluster's only error class: the problem, then the remedy. Thrown by every file in this folder. */

export class ClusterError extends Error {
  override readonly name = "ClusterError";

  constructor(problem: string, remedy: string, options?: ErrorOptions) {
    super(`${problem} ${remedy}`, options);
  }
}

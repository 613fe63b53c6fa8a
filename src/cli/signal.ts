/** How commands that keep running are told to stop. */

/** Later signals change nothing: dying in the middle of the end would leave the embedded PostgreSQL running. */
export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve(signal));
  });
}

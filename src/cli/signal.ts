/**
 * How commands that keep running are told to stop: by a person, by whoever runs the service, by a terminal that is
 * closed.
 */

export const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Later signals change nothing: dying in the middle of the end would leave the embedded PostgreSQL running. */
export function nextSignal(): Promise<NodeJS.Signals> {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", outliveTerminal);
  return new Promise((resolve) => {
    for (const signal of stopSignals) process.on(signal, () => resolve(signal));
  });
}

/** What is written to a terminal that is closed is lost. It must not end the process before it has ended in order. */
function outliveTerminal(error: NodeJS.ErrnoException): void {
  if (error.code !== "EIO") throw error;
}

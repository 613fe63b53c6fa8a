/** Stop signals of long-running commands: from a person, a supervisor, or a closed terminal. */

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Later signals are ignored: an interrupted shutdown would leave the embedded PostgreSQL running. */
export function nextSignal(): Promise<NodeJS.Signals> {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", outliveTerminal);
  return new Promise((resolve) => {
    for (const signal of stopSignals) process.on(signal, () => resolve(signal));
  });
}

export function stopSignal(reason?: Error): AbortSignal {
  const stop = new AbortController();
  for (const signal of stopSignals) process.once(signal, () => stop.abort(reason));
  return stop.signal;
}

/** Ignores write errors of a closed terminal, so that the process can shut down in order. */
function outliveTerminal(error: NodeJS.ErrnoException): void {
  if (error.code !== "EIO") throw error;
}

/** What ends a command from outside: signals of a person or a supervisor, a closed terminal, a closed pipe. */

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Later signals are ignored: an interrupted shutdown would leave the embedded PostgreSQL running. */
export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of stopSignals) process.on(signal, () => resolve(signal));
    if (process.env.npm_lifecycle_event) onParentEnd(() => resolve("SIGTERM"));
  });
}

/** Read while svc starts: after the parent's end it is another process. */
const parent = process.ppid;

/**
 * npm sends SIGTERM to the shell of its script (`npm run dev`, `npx svc dev`), and many shells end without passing it on:
 * this process learns of the stop only by the end of its parent. Without npm a parent may end earlier, as with `nohup`.
 * Source: https://github.com/npm/cli/issues/6684
 */
function onParentEnd(end: () => void): void {
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    end();
  }, 500).unref();
}

/**
 * Ends the process in a second at the latest, after its output, although the application has something open: a timer, or a
 * connection to a mail server that does not answer.
 */
export function endSoon(): void {
  setTimeout(() => process.stdout.write("", () => process.exit()), 1_000).unref();
}

/** Also when nobody reads standard output any more. */
export function stopSignal(reason?: Error): AbortSignal {
  const stop = new AbortController();
  process.stdout.once("error", () => stop.abort(reason));
  for (const signal of stopSignals) process.once(signal, () => stop.abort(reason));
  return stop.signal;
}

/**
 * Ignores write errors of a closed terminal, and of a pipe whose reader has ended, as in `svc db lint | head`: the command
 * ends in order, and the rest of its output is for nobody.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EIO" && error.code !== "EPIPE") throw error;
    });
  }
}

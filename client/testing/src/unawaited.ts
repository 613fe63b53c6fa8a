/** Tells whose statement it was if a handler under test did not await one that failed. */
import { describeUnawaited } from "@svc/core/internal";

/**
 * The runner of the tests reports the rejection too, but without its place in the application, and often beside another
 * test than the one that made the call.
 *
 * @param cwd the application's folder
 * @returns ends it
 */
export function explainUnawaited(cwd: string): () => void {
  const explain = (reason: unknown) => {
    const text = describeUnawaited(reason, cwd);
    if (text !== undefined) process.stderr.write(`\n${text}\n\n`);
    // Without another listener, such as that of a runner, Node would have ended the process.
    if (process.listenerCount("unhandledRejection") === 1) throw reason;
  };
  process.on("unhandledRejection", explain);
  return () => void process.off("unhandledRejection", explain);
}

/**
 * Runs `svc` commands one after the other in one process, which costs a tenth of a process for each. Argument: a list of
 * lists of words, as JSON. Commands that go on until they are told to stop are told so once they are there.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { dispatch } from "../../src/cli/dispatch.ts";

const goesOn = /^(start|worker|\w+ tail)\b/;

for (const words of JSON.parse(process.argv[2] ?? "[]") as string[][]) {
  process.stdout.write(`\n$ svc ${words.join(" ")}\n`);
  process.removeAllListeners("SIGTERM");
  let isOver = false;
  const running = dispatch(words).finally(() => {
    isOver = true;
  });
  if (goesOn.test(words.join(" "))) {
    // Waits until the command listens for the signal.
    while (!isOver && process.listenerCount("SIGTERM") === 0) await sleep(10);
    process.emit("SIGTERM", "SIGTERM");
  }
  await running;
}
// Resources that a command leaves open, such as a pool, are not under test here.
process.stdout.write("\nthe end\n", () => process.exit(0));

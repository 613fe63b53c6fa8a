/**
 * Runs `svc` commands one after the other in one process, which costs a tenth of a process for each. Argument: a list of
 * lists of words, as JSON. Commands that go on until they are told to stop are told so once they are there. The process
 * ends when no command has left anything open; at once if "exit" is the second argument.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { dispatch } from "../../src/cli/dispatch.ts";
import { output } from "../../src/cli/output.ts";

const goesOn = /^(start|worker|\w+ tail)\b/;

for (const words of JSON.parse(process.argv[2] ?? "[]") as string[][]) {
  process.stdout.write(`\n$ svc ${words.join(" ")}\n`);
  process.removeAllListeners("SIGTERM");
  output.json = false;
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
process.stdout.write("\nthe end\n", () => process.argv[3] === "exit" && process.exit(0));

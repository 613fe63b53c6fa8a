/**
 * Runs `svc` commands one after the other in one process, which costs a tenth of a process for each. Argument: a list of
 * lists of words, as JSON. Commands that go on until they are told to stop are told so once they are there. The process
 * ends when no command has left anything open; at once if "exit" is the second argument. Both streams name the commands;
 * standard output has the exit code of each, too.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { dispatch } from "../../src/cli/dispatch.ts";
import { output } from "../../src/cli/output.ts";

const goesOn = /^(start|worker|\w+ tail)\b/;
const [commands = "[]", end] = process.argv.slice(2);

for (const words of JSON.parse(commands) as string[][]) {
  for (const stream of [process.stdout, process.stderr]) stream.write(`\n$ svc ${words.join(" ")}\n`);
  process.removeAllListeners("SIGTERM");
  process.argv.splice(2, process.argv.length, ...words);
  process.exitCode = undefined;
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
  process.stdout.write(`\n= ${process.exitCode ?? 0}\n`);
}
process.stdout.write("\nthe end\n", () => end === "exit" && process.exit(0));

/** Asks the person at the terminal. It must also run on Node 20, for `svc init`. */
import { createInterface } from "node:readline/promises";

/** @returns null when the question was closed, by Ctrl-C or Ctrl-D */
export async function ask(question: string): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Without it, the question of an older Node would never end.
  const closed = new Promise<null>((resolve) => terminal.once("close", () => resolve(null)));
  const answer = await Promise.race([terminal.question(question).catch(() => null), closed]);
  terminal.close();
  if (answer === null) process.stderr.write("\n");
  return answer;
}

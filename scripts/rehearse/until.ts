/** Waits for what other processes do. */
import { setTimeout as sleep } from "node:timers/promises";

/** @throws Error when it has not come to pass in time */
export async function until(holds: () => Promise<boolean> | boolean, limitMs = 60_000): Promise<void> {
  const giveUp = Date.now() + limitMs;
  while (!(await holds())) {
    if (Date.now() > giveUp) throw new Error(`it did not come to pass within ${limitMs / 1000} s: ${holds}`);
    await sleep(20);
  }
}

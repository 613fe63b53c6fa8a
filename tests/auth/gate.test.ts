// If this file fails, a burst of sign-ins takes all threads and connections, or people wait for a place that never comes.
import { expect, test } from "vitest";
import { Gate } from "../../src/service/gate.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("runs as many at once as it may, the others in their order, and refuses when too many wait", async () => {
  const gate = new Gate(2, 3);
  const order: number[] = [];
  let running = 0;
  let most = 0;
  const call = (number: number) =>
    gate.run(async () => {
      most = Math.max(most, ++running);
      order.push(number);
      await turn();
      running--;
    });

  const five = [1, 2, 3, 4, 5].map(call);
  await expect(call(6)).rejects.toMatchObject({ code: "UNAVAILABLE", retryAfter: 2 });
  await Promise.all(five);
  expect(order).toEqual([1, 2, 3, 4, 5]);
  expect(most).toBe(2);
});

test("gives a place on when a call fails", async () => {
  const gate = new Gate(1, 1);
  const failing = gate.run(() => Promise.reject(new Error("wrong")));
  const next = gate.run(async () => "in");
  await expect(failing).rejects.toThrow("wrong");
  expect(await next).toBe("in");
  expect(await gate.run(async () => "again")).toBe("again");
});

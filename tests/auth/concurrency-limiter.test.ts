// If this file fails, a burst of sign-ins takes all threads and connections, or sign-ins wait for ever.
import { expect, test } from "vitest";
import { ConcurrencyLimiter } from "../../src/kit/concurrency-limiter.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("runs as many at once as it may, the others in their order, and refuses when too many wait", async () => {
  const limiter = new ConcurrencyLimiter(2, 3);
  const order: number[] = [];
  let running = 0;
  let most = 0;
  const call = (number: number) =>
    limiter.run(async () => {
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
  const limiter = new ConcurrencyLimiter(1, 1);
  const failing = limiter.run(() => Promise.reject(new Error("wrong")));
  const next = limiter.run(async () => "in");
  await expect(failing).rejects.toThrow("wrong");
  expect(await next).toBe("in");
  expect(await limiter.run(async () => "again")).toBe("again");
});

/** Calls that run until they are ended, in the order of their start. */
function callsOf(limiter: ConcurrencyLimiter) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const settled: Promise<unknown>[] = [];
  const call = (name: string, key: string, signal?: AbortSignal) => {
    const done = limiter.run(
      () => {
        begun.push(name);
        return new Promise<void>((end) => ends.push(end));
      },
      { key, ...(signal && { signal }) },
    );
    const code = done.then(
      () => "done",
      (error) => error.code,
    );
    settled.push(code);
    return code;
  };
  const endAll = async () => {
    for (let end = ends.shift(); end; end = ends.shift()) {
      end();
      await turn();
    }
    return Promise.all(settled);
  };
  return { begun, call, endAll };
}

test("keys take turns: one call waits for one of each other key, and not for the hundred of one", async () => {
  const { begun, call, endAll } = callsOf(new ConcurrencyLimiter(1, 200));
  for (let n = 0; n < 100; n++) call(`crowd ${n}`, "crowd");
  for (const one of ["ann", "bob"]) for (let n = 0; n < 2; n++) call(`${one} ${n}`, one);
  await endAll();
  const turns = ["crowd 0", "crowd 1", "ann 0", "bob 0", "crowd 2", "ann 1", "bob 1", "crowd 3"];
  expect(begun.slice(0, 8)).toEqual(turns);
  expect(begun).toHaveLength(104);
});

test("a full queue takes a call of another key in place of the newest of the longest", async () => {
  const { begun, call, endAll } = callsOf(new ConcurrencyLimiter(1, 4));
  const crowd = [0, 1, 2, 3, 4].map((n) => call(`crowd ${n}`, "crowd"));
  call("ann", "ann");
  expect(await crowd.at(-1)).toBe("UNAVAILABLE");
  expect(await call("crowd 5", "crowd")).toBe("UNAVAILABLE");
  await endAll();
  expect(begun).toEqual(["crowd 0", "crowd 1", "ann", "crowd 2", "crowd 3"]);
});

test("where every key has one, nobody gives up a place", async () => {
  const { begun, call, endAll } = callsOf(new ConcurrencyLimiter(1, 2));
  for (const key of ["a", "b", "c"]) call(key, key);
  expect(await call("d", "d")).toBe("UNAVAILABLE");
  await endAll();
  expect(begun).toEqual(["a", "b", "c"]);
});

test("so many of a key may wait, whatever room there is", async () => {
  const { call, endAll } = callsOf(new ConcurrencyLimiter(1, 100, 2));
  const codes = [0, 1, 2, 3].map((n) => call(`${n}`, "one"));
  expect(await codes[3]).toBe("UNAVAILABLE");
  expect(await endAll()).toEqual(["done", "done", "done", "UNAVAILABLE"]);
});

test("a call whose signal aborts leaves the queue, frees its place, and is never begun", async () => {
  const { begun, call, endAll } = callsOf(new ConcurrencyLimiter(1, 2));
  const [waiting, late] = [new AbortController(), new AbortController()];
  call("first", "a");
  const left = call("left", "a", waiting.signal);
  const gone = call("gone", "b", late.signal);
  expect(await call("refused", "c")).toBe("UNAVAILABLE");
  waiting.abort();
  expect(await left).toBe("UNAVAILABLE");
  call("second", "a");
  late.abort();
  await gone;
  expect(await call("never", "a", AbortSignal.abort())).toBe("UNAVAILABLE");
  expect(await endAll()).toEqual(["done", "UNAVAILABLE", "UNAVAILABLE", "UNAVAILABLE", "done", "UNAVAILABLE"]);
  expect(begun).toEqual(["first", "second"]);
});

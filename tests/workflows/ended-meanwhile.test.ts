// If this file fails, a worker whose run was cancelled, or given to another worker, writes its steps and its end; two
// operators or a worker change a run at the same moment; or an event or a timeout ends another wait than its own.
import { beforeAll, describe, expect, test } from "vitest";
import { database, waitsForLock } from "../support/database.ts";

const db = database();
type Values = unknown[];
const answer = async (call: string, ...values: Values) =>
  (await db.sql(`select ${call} as it`, values).catch(({ code }) => [{ it: code }]))[0]?.it;

/** A run that a worker holds with this fence. */
async function held(): Promise<{ id: string; fence: string }> {
  const id = await answer("svc_private.add_run(null, true, 'order', 1, '{}', null, null, null)");
  const { fence } = await answer("svc_private.claim_run($1)", id);
  return { id, fence };
}
const run = async (id: string) => (await db.sql("select * from svc.workflow_runs where id = $1", [id]))[0];
const steps = (id: string) =>
  db.sql("select position, is_done, timed_out, result from svc.workflow_steps where run_id = $1 order by seq", [id]);
const wait = ({ id, fence }: { id: string; fence: string }, place: string, event: string, what = "wait") =>
  answer("svc_private.begin_wait($1, $2, $3, $4, $5, '1 hour')", id, fence, place, what, event);
const signal = (id: string, event: string, content: string) =>
  answer("svc_private.signal_any_workflow($1, $2, $3)", id, event, JSON.stringify(content));

const record = "svc.record_step($1, $2, '0', 'pay', '{}', null, now())";
const end = "svc_private.end_run($1, $2, 'completed', '{}', null, null)";
const cancel = "svc_private.cancel_any_workflow($1)";
const retry = "svc_private.retry_any_workflow($1, null)";

describe.each([
  record,
  end,
  "svc_private.suspend_run($1, $2, '{}')",
  "svc_private.retry_run_later($1, $2, '{}', 'no', '1 second')",
  "svc_private.pass_on_run($1, $2, '1 second')",
  "svc_private.begin_wait($1, $2, '0', 'wait', 'go', '1 hour')",
])("%s", (call) => {
  test("changes nothing of a run that another worker has got, or that has ended", async () => {
    const { id, fence } = await held();
    const { fence: next } = await answer("svc_private.claim_run($1)", id);
    const before = await run(id);
    expect(await answer(call, id, fence)).toBe("SV409");
    expect([await run(id), await steps(id)]).toEqual([before, []]);
    await answer(cancel, id);
    const cancelled = await run(id);
    expect(await answer(call, id, next)).toBe("SV409");
    expect([await run(id), await steps(id)]).toEqual([cancelled, []]);
  });
});

describe("a call that comes while another transaction changes the run waits for it", () => {
  beforeAll(() => db.sql("select set_config('lock_timeout', '20s', false)"));

  test.each([
    ["a step", cancel, record, "SV409", "cancelled"],
    ["the end", cancel, end, "SV409", "cancelled"],
    ["a claim", cancel, "svc_private.claim_run($1)", null, "cancelled"],
    ["an event", cancel, "svc_private.signal_any_workflow($1, 'go', '1')", "ended", "cancelled"],
    ["a cancellation", end, cancel, "ended", "completed"],
    ["a retry", retry, retry, "active", "pending"],
  ])("%s", async (_, first, second, told, status) => {
    const { id, fence } = await held();
    if (first === retry) await answer(cancel, id);
    const [one, other] = [await db.connect("admin"), await db.connect("admin")];
    const values = (call: string) => (call.includes("$2") ? [id, fence] : [id]);
    await one.query("begin");
    await one.query(`select ${first}`, values(first));
    const late = other.query(`select ${second} as it`, values(second)).then(
      ({ rows }) => rows[0].it,
      ({ code }) => code,
    );
    await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
    await one.query("commit");
    expect(await late).toBe(told);
    expect((await run(id))?.status).toBe(status);
  });
});

describe("a wait", () => {
  test("ends by its own event alone, the first one that nothing has taken", async () => {
    const worker = await held();
    for (const [event, content] of [
      ["other", "0"],
      ["go", "1"],
      ["go", "2"],
    ] as const)
      expect(await signal(worker.id, event, content)).toBe("accepted");
    expect(await wait(worker, "0", "go")).toEqual({ done: true, result: "1" });
    expect(await wait(worker, "1", "go")).toEqual({ done: true, result: "2" });
    expect(await wait(worker, "2", "go")).toEqual({ done: false, result: null });
  });

  test("gets an event of its name, one after the other, and a sleep gets none", async () => {
    const worker = await held();
    await wait(worker, "0", "go", "sleep");
    await wait(worker, "1", "other");
    await wait(worker, "2", "go");
    await wait(worker, "3", "go");
    await signal(worker.id, "go", "a");
    await signal(worker.id, "go", "b");
    expect((await steps(worker.id)).map(({ result }) => result)).toEqual([null, null, "a", "b"]);
  });

  test("that is over ends when the next worker claims the run, and no other one", async () => {
    const worker = await held();
    for (const place of ["0", "1", "2"]) await wait(worker, place, `event ${place}`);
    await signal(worker.id, "event 0", "a");
    await db.sql("update svc.workflow_steps set due_at = '2020-01-01' where run_id = $1 and position < '2'", [
      worker.id,
    ]);
    await answer("svc_private.claim_run($1)", worker.id);
    expect(await steps(worker.id)).toEqual([
      { position: "0", is_done: true, timed_out: false, result: "a" },
      { position: "1", is_done: true, timed_out: true, result: null },
      { position: "2", is_done: false, timed_out: false, result: null },
    ]);
  });

  test("of a run that waits for a retry gets its event, and the run waits on", async () => {
    const worker = await held();
    await wait(worker, "0", "go");
    await answer("svc_private.retry_run_later($1, $2, '{}', 'no', '1 hour')", worker.id, worker.fence);
    const before = await run(worker.id);
    await signal(worker.id, "go", "a");
    expect(await run(worker.id)).toEqual(before);
  });
});

test("a run whose event came before its worker let go of it is due at once, else when its own wait is over", async () => {
  const wake = async (worker: { id: string; fence: string }, stuck: string[]) => {
    await answer("svc_private.suspend_run($1, $2, $3)", worker.id, worker.fence, stuck);
    const row = await run(worker.id);
    return [row?.wake_at !== null && row?.wake_at < new Date(), row?.wait_marker];
  };
  const [early, late] = [await held(), await held()];
  await wait(early, "0", "go");
  await signal(early.id, "go", "a");
  expect(await wake(early, ["0"])).toEqual([true, null]);
  await wait(late, "0", "another branch");
  await wait(late, "1", "go");
  await db.sql(
    "update svc.workflow_steps set due_at = now() + interval '9 hours' where run_id = $1 and position = '1'",
    [late.id],
  );
  expect(await wake(late, ["1"])).toEqual([false, "wait:go"]);
  expect((await run(late.id))?.wake_at.getTime()).toBeGreaterThan(Date.now() + 7 * 3_600_000);
});

test("a thousand events that were taken leave room for others", async () => {
  const worker = await held();
  await db.sql(
    `insert into svc.workflow_events (run_id, name, payload, taken_by) select $1, 'go', '1', '0' from generate_series(1, 1000)`,
    [worker.id],
  );
  expect(await signal(worker.id, "go", "a")).toBe("accepted");
  await db.sql("update svc.workflow_events set taken_by = null where run_id = $1", [worker.id]);
  expect(await signal(worker.id, "go", "a")).toBe("full");
});

test("a claim that ends its run is told as such, and no other end", async () => {
  const reason = "maxDuration was 00:00:01";
  const told = async (status: string, detail: string, at: string) => {
    const { id } = await held();
    await db.sql(
      "update svc.workflow_runs set status = $2, error_detail = $3, updated_at = now() - $4::interval where id = $1",
      [id, status, detail, at],
    );
    return db.sql("select * from svc_private.ended_by_claim($1)", [id]);
  };
  expect(await told("failed", reason, "0")).toEqual([{ name: "order", reason }]);
  expect(await told("cancelled", reason, "0")).toEqual([]);
  expect(await told("failed", "Error: no", "0")).toEqual([]);
  expect(await told("failed", reason, "1 minute")).toEqual([]);
});

// If this file fails, a mutation with an idempotency key that is sent until it is answered is saved twice, or not at all,
// because a process, a connection or an answer was lost.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { secret, service, type User } from "../support/service.ts";

const rounds = Number(process.env.CHAOS_ROUNDS ?? 6);
const db = database();
const svc = service(db);
const folder = bytesFolder();
let users: User[];
beforeAll(async () => {
  users = await Promise.all(["ann", "bob", "cleo"].map((name) => svc.signUp(name)));
});

/** Two services. One that is killed is replaced. */
const running: { url: string; child: ChildProcess }[] = [];
async function start(place: number): Promise<void> {
  const child = fork(join(import.meta.dirname, "../support/service-child.ts"), [
    JSON.stringify(db.urls),
    folder,
    secret,
  ]);
  const [url] = await once(child, "message");
  running[place] = { url, child };
}
afterAll(() => running.forEach(({ child }) => void child.kill("SIGKILL")));

interface Answer {
  status: number;
  body: { code?: string; json?: { id: number }; results?: { json: { id: number } }[] };
  replayed: boolean;
}

test("calls that are sent until they are answered are saved once, while services and connections are killed", async () => {
  await Promise.all([start(0), start(1)]);
  const saved = new Map<string, number[]>();
  const strange = new Set<string>();
  let replays = 0;
  let writing = true;

  async function send(place: number, user: User, key: string, titles: string[]): Promise<Answer | undefined> {
    const calls = titles.map((title) => ({ name: "notes.create", args: { title } }));
    const [path, body] = calls.length === 1 ? ["/api/mutation", calls[0]] : ["/api/batch", { calls }];
    const headers = {
      "content-type": "application/json",
      "idempotency-key": key,
      authorization: `Bearer ${user.sessionToken}`,
    };
    try {
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      const response = await fetch(`${running[place % 2]?.url}${path}`, init);
      const replayed = response.headers.get("idempotent-replayed") === "true";
      return { status: response.status, body: (await response.json()) as Answer["body"], replayed };
    } catch {
      return undefined; // the process was killed
    }
  }

  const writer = async (number: number) => {
    while (writing) {
      const [user, key] = [users[number % 3] as User, crypto.randomUUID()];
      const titles = Array.from({ length: number % 2 ? 1 : 3 }, () => crypto.randomUUID());
      for (let attempt = 0; ; attempt++) {
        const answer = await send(number + attempt, user, key, titles);
        if (answer && answer.status !== 200) strange.add(`${answer.status} ${answer.body.code}`);
        if (answer?.status !== 200 || Math.random() < 0.2) continue; // as if the answer had been lost
        if (answer.replayed) replays++;
        const { json, results = [] } = answer.body;
        const ids = (json ? [json] : results.map((one) => one.json)).map(({ id }) => id);
        for (const title of titles) saved.set(title, ids);
        break;
      }
    }
  };
  const killer = async () => {
    for (let round = 0; round < rounds; round++) {
      const goal = saved.size + 40;
      await expect.poll(() => saved.size, { interval: 5 }).toBeGreaterThan(goal);
      await db.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'svc_request' and random() < 0.5",
      );
      running[round % 2]?.child.kill("SIGKILL");
      await start(round % 2);
    }
    writing = false;
  };
  await Promise.all([killer(), ...Array.from({ length: 6 }, (_, number) => writer(number))]);

  const rows = await db.sql<{ id: number; title: string }>("select id, title from notes");
  expect(rows).toHaveLength(saved.size);
  expect(new Set(rows.map(({ title }) => title))).toEqual(new Set(saved.keys()));
  for (const { id, title } of rows) expect(saved.get(title)).toContain(id);
  expect(replays).toBeGreaterThan(0);
  const known = ["503 UNAVAILABLE", "500 OUTCOME_UNKNOWN", "429 RATE_LIMITED"];
  expect([...strange].filter((one) => !known.includes(one))).toEqual([]);
});

// If this file fails, there is an order of messages, clearings, restarts and restores after which a page that comes back misses a
// message silently, or is told of a gap where there is none.
import fc from "fast-check";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
const max = 5;
const item = { name: "room", topic: "room", keep: 3_600_000, max };

type Act =
  | { kind: "say" | "clear"; count: number }
  | { kind: "restart" | "backup" | "restore" | "join" }
  | { kind: "return"; who: number };

/** What a channel went through: the uses of its numbers, in order. A clearing is null; one of an empty channel uses none. */
type History = readonly (string | null)[];

/** The messages that are there, and how many uses of numbers are before them. */
function kept(history: History): { from: number; texts: string[] } {
  const from = Math.max(history.length - max, history.lastIndexOf(null) + 1, 0);
  return { from, texts: history.slice(from) as string[] };
}

/** What a page that has seen the beginning of a history must be told. */
function expected(seen: History, now: History) {
  const { from, texts } = kept(now);
  const isGap = seen.length > now.length || seen.some((use, at) => use !== now[at]) || seen.length < from;
  return isGap ? { gap: true, texts } : { gap: false, texts: now.slice(seen.length) };
}

const act = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("say" as const), count: fc.integer({ min: 1, max: 7 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("clear" as const), count: fc.integer({ min: 0, max: 2 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("restart" as const, "backup", "restore", "join") }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("return" as const), who: fc.nat(20) }) },
);

test("who comes back misses nothing silently, and hears of a gap only where something is missing", async () => {
  const client = await db.connect("admin");
  const tables = ["channels", "channel_messages"] as const;
  let texts = 0;

  async function run(acts: readonly Act[]): Promise<void> {
    await client.query(
      "truncate svc.channels, svc.channel_messages; drop table if exists kept_channels, kept_channel_messages",
    );
    let now: History = [];
    let copy: History | undefined;
    const pages: { seen: History; until: number }[] = [];
    const given = new Map<number, string>();

    const read = async (after: number | null) => {
      const { rows } = await client.query("select svc.read_messages('room', $1, 100, 1000000) as page", [after]);
      const { gap, until, messages } = JSON.parse(rows[0].page);
      for (const { id, body } of messages) {
        expect(given.get(id) ?? body).toBe(body); // one number, one message
        given.set(id, body);
      }
      return { gap, until, texts: messages.map(({ body }: { body: string }) => body) };
    };
    const store = async (isClearing: boolean, count: number) => {
      const said = Array.from({ length: count }, () => String(++texts));
      const all = said.map((text) => ({ ...item, message: "said", body: JSON.stringify(text) }));
      await client.query("select svc.store_messages($1)", [
        JSON.stringify(isClearing ? [...all, { ...item, clear: true }] : all),
      ]);
      now = [...now, ...(isClearing && kept(now).texts.length > 0 ? [null] : []), ...said];
      await read(null);
    };

    for (const one of acts) {
      if (one.kind === "say" || one.kind === "clear") await store(one.kind === "clear", one.count);
      if (one.kind === "restart") await client.query("update svc.channels set run = 'before'");
      if (one.kind === "backup") {
        for (const name of tables)
          await client.query(`drop table if exists kept_${name}; create table kept_${name} as table svc.${name}`);
        copy = now;
      }
      if (one.kind === "restore" && copy) {
        await client.query("truncate svc.channels, svc.channel_messages");
        for (const name of tables)
          await client.query(`insert into svc.${name} overriding system value select * from kept_${name}`);
        now = copy;
      }
      if (one.kind === "join") {
        const { until, gap, texts } = await read(null);
        expect({ gap, texts }).toEqual({ gap: false, texts: kept(now).texts });
        pages.push({ seen: now, until });
      }
      const page = one.kind === "return" ? pages[one.who % (pages.length || 1)] : undefined;
      if (page) {
        const { gap, until, texts } = await read(page.until);
        expect({ gap, texts }).toEqual(expected(page.seen, now));
        Object.assign(page, { seen: now, until });
      }
    }
    for (const page of pages) {
      const { gap, texts } = await read(page.until);
      expect({ gap, texts }).toEqual(expected(page.seen, now));
    }
  }

  const runs = Number(process.env.FUZZ_RUNS ?? 40);
  await fc.assert(fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 60 }), run), {
    numRuns: Math.min(runs, 1_000),
  });
});

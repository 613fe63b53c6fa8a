// If this file fails, an attacker can find out who has an account, by answers or by their timing.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Answer, type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { Mailbox } from "../support/mailbox.ts";

const db = database();
let server: AuthServer;
beforeAll(async () => {
  server = await startAuthServer(db, { definition: new Mailbox().definition, costlyPasswords: true });
  await server.signUp();
});
afterAll(() => server.close());
beforeEach(() => db.sql("delete from auth.attempt"));

const nobody = "bob@example.com"; // as long as Ann's
/** A missing hash shows within a few samples; more samples show smaller differences. */
const samples = (path: string) => (process.env.FUZZ_RUNS ? 500 : path === "/sign-in" ? 20 : 50);
/** One of three measurements must be below. A higher value is chance with a probability of 1 in 100,000. */
const significant = 4.5;

const questions = {
  "/sign-in": (email: string) => ({ email, password: "wrong horse" }),
  "/request-password-reset": (email: string) => ({ email, redirectTo: "/reset" }),
} as const;

/** The content of an answer, without the parts that differ in every answer. */
function told({ status, text, headers }: Answer) {
  const names = [...headers].filter(([name]) => !["date", "x-request-id"].includes(name));
  return { status, text: text.replace(/"requestId":"[^"]+"/, ""), headers: names };
}

/** Welch's t: the distance of two means in standard errors. */
function welch(a: number[], b: number[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const error = (values: number[]) => {
    const center = mean(values);
    return values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (values.length - 1) / values.length;
  };
  return (mean(a) - mean(b)) / Math.sqrt(error(a) + error(b));
}

/** Milliseconds of answers to known and unknown addresses, alternating and in changing order. */
async function measure(path: keyof typeof questions): Promise<number> {
  const times: Record<string, number[]> = { [ann.email]: [], [nobody]: [] };
  for (let n = 0; n < samples(path) + 10; n++) {
    for (const email of n % 2 ? [ann.email, nobody] : [nobody, ann.email]) {
      const body = questions[path](email);
      const began = performance.now();
      await server.post(path, body);
      if (n >= 10) times[email]?.push(performance.now() - began); // the first ones warm up
    }
  }
  return welch(times[ann.email] ?? [], times[nobody] ?? []);
}

describe.for(Object.keys(questions) as (keyof typeof questions)[])("%s", (path) => {
  test("answers the same to an address with and without an account", async () => {
    const [known, unknown] = [
      await server.post(path, questions[path](ann.email)),
      await server.post(path, questions[path](nobody)),
    ];
    expect(told(unknown)).toEqual(told(known));
  });

  test("answers the same beyond the limit", async () => {
    const strict = await startAuthServer(db, {
      definition: new Mailbox().definition,
      limits: { signInsPerAccount: 1, mailsPerAccount: 1 },
    });
    const answers = [];
    for (const email of [ann.email, nobody]) {
      await strict.post(path, questions[path](email));
      // A second that passes between two answers may show in the seconds to wait.
      const answer = told(await strict.post(path, { ...questions[path](email), password: ann.password }));
      answers.push({ ...answer, headers: answer.headers.filter(([name]) => name !== "retry-after") });
    }
    expect(answers[0]?.status).toBe(429);
    expect(answers[1]).toEqual(answers[0]);
    await strict.close();
  });

  // The only test of the project that uses the clock: it compares two durations, not their length.
  test("takes the same time for an address with and without an account", { timeout: 600_000 }, async () => {
    const measured: number[] = [];
    while (measured.length < 3 && !measured.some((t) => Math.abs(t) < significant)) measured.push(await measure(path));
    console.info(`${path}: Welch's t ${measured.map((t) => t.toFixed(2)).join(", ")}`);
    expect(Math.min(...measured.map(Math.abs))).toBeLessThan(significant);
  });
});

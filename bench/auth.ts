/**
 * What it costs to be somebody: the same call by JWT and by session token, over an anonymous one; sign-ins at the
 * configured cost of a hash; and how long another process goes on believing a JWT whose session has ended.
 */
import { join } from "node:path";
import { openCluster } from "../src/cluster/open-cluster.ts";
import { freePort } from "../tests/support/free-port.ts";
import { interleave, median, report } from "./measure.ts";
import { type Contestant, contestant } from "./process.ts";

const here = import.meta.dirname;
const svcCommand = join(here, "../src/cli/svc.ts");
const secret = "a-secret-of-the-benchmark-of-32-characters-or-more";
const password = "correct horse battery";
/** Sessions that are ended, one after the other. */
const rounds = 100;

interface Person {
  email: string;
  token: string;
  sessionToken: string;
}

export async function run(): Promise<void> {
  const cluster = await openCluster({ directory: join(here, "app/.svc"), report: console.info });
  const first = await start();
  const second = await start();
  try {
    const person = await signUp(first);
    await compareCredentials(first, person);
    await signIns(first, person);
    await denials(first, second, person);
  } finally {
    await Promise.all([first.stop(), second.stop()]);
    await cluster.stop();
  }
}

/** One origin for all processes, so that each believes the others' JWTs; their `Ready:` tells that, and not the port. */
async function start(): Promise<Contestant> {
  const port = await freePort();
  const env = { PORT: String(port), LOG_LEVEL: "info", AUTHLIB_URL: "http://localhost:4000", AUTHLIB_SECRET: secret };
  const process = await contestant([svcCommand, "start", "--cwd", join(here, "app")], env);
  return { ...process, url: `http://localhost:${port}` };
}

async function compareCredentials(svc: Contestant, { token, sessionToken }: Person): Promise<void> {
  const call = (name: string, procedure: string, credential?: string) => ({
    name,
    process: svc,
    path: "/api/query",
    headers: (credential === undefined ? {} : { authorization: `Bearer ${credential}` }) as Record<string, string>,
    body: () => JSON.stringify({ name: procedure, args: { text: "hello" } }),
  });
  report(
    "a call without database",
    await interleave([
      call("by JWT", "echo", token),
      call("by session token", "echo", sessionToken),
      call("anonymous", "echoToAnyone"),
    ]),
  );
}

async function signIns(svc: Contestant, { email }: Person): Promise<void> {
  const signIn = {
    name: "sign-in",
    process: svc,
    path: "/api/auth/sign-in",
    headers: {},
    body: () => JSON.stringify({ email, password }),
  };
  report("signing in", await interleave([signIn], { connections: 8 }));
}

/** From the answer to a sign-out at one process to the first 401 of the other. */
async function denials(first: Contestant, second: Contestant, { email }: Person): Promise<void> {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { token, sessionToken } = await post<Person>(first, "/sign-in", { email, password });
    for (let call = 0; call < 2; call++) await isBelieved(second, token); // remembered now
    await post(first, "/sign-out", {}, sessionToken);
    const start = performance.now();
    while (await isBelieved(second, token)) {}
    taken.push(performance.now() - start);
  }
  const last = Math.max(...taken);
  console.info(
    `\ndenied by another process after a sign-out: p50 ${median(taken).toFixed(1)} ms, max ${last.toFixed(1)} ms`,
  );
}

async function isBelieved(svc: Contestant, token: string): Promise<boolean> {
  const response = await fetch(`${svc.url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  return response.ok;
}

async function signUp(svc: Contestant): Promise<Person> {
  const email = `bench-${Date.now()}@example.com`;
  return { email, ...(await post<Omit<Person, "email">>(svc, "/sign-up", { email, password, name: "Bench" })) };
}

async function post<Answer>(svc: Contestant, path: string, body: object, credential?: string): Promise<Answer> {
  const response = await fetch(`${svc.url}/api/auth${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}

// If this file fails, a caller's mistake is answered as a fault of the service, and wakes its operator.
import { passkey } from "@better-auth/passkey";
import type { BetterAuthPlugin } from "better-auth";
import { siwe } from "better-auth/plugins";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { endpointsOf } from "../../src/auth/plugins/plugins.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { plugins as many } from "./many-plugins.ts";

const plugins = [
  ...many.filter(({ id }) => id !== "siwe"),
  // A nonce that the plugin takes; the other list's is too short.
  siwe({ domain: "app.test", getNonce: async () => "nonceOfTheTests1", verifyMessage: async () => false }),
] as BetterAuthPlugin[];
const definition = defineAuth({
  passkeys: true,
  betterAuth: (defaults) => ({ ...defaults, rateLimit: { enabled: false }, plugins }),
});
const db = database();
let server: AuthServer;
let boss: { id: string; bearer: string };
let other: string;
const signUp = async (name: string) => {
  const { user, sessionToken } = (await server.signUp({ ...ann, email: `${name}@example.com` })).body;
  return { id: user.id as string, bearer: sessionToken as string };
};
beforeAll(async () => {
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition });
  boss = await signUp("boss");
  await renew();
});
afterAll(() => server.close());

/** An administrator who is signed in, and a user: what was called before may have ended or removed either. */
let rounds = 0;
async function renew(): Promise<void> {
  await db.sql("delete from auth.attempt");
  boss = await signUp(`boss-${++rounds}`);
  await db.sql(`update auth."user" set role = 'admin' where id = $1`, [boss.id]);
  other = (await signUp(`other-${rounds}`)).id;
}

const long = "x".repeat(9_000);
/** As JSON. */
const values = {
  nothing: "null",
  boolean: "true",
  negative: "-1",
  huge: "1e308",
  fraction: "0.5",
  empty: '""',
  text: '"no such thing"',
  long: JSON.stringify(long),
  control: '"\\u0001\\u001f"',
  list: '["x"]',
  object: '{"x":1}',
  operator: '{"operator":"in","value":["x"]}',
  proto: '{"__proto__":{"x":1},"constructor":{"prototype":1}}',
  deep: "[".repeat(6_000) + "]".repeat(6_000),
  deepObjects: `${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`,
  nul: '"a\\u0000"',
  surrogate: '"\\ud800"',
};

/** An object as JSON, with one member that is JSON already. */
const withMember = (object: object, name: string, json: string) =>
  JSON.stringify({ ...object, [name]: "~" }).replace('"~"', () => json);

/** What passes the endpoint's schema, as far as its types tell. */
function sample(name: string, { type, anyOf }: { type?: unknown; anyOf?: { type?: unknown }[] }): unknown {
  const kind = type ?? anyOf?.[0]?.type;
  if (name === "userId") return other;
  if (/email$/i.test(name)) return "someone@example.com";
  if (/URL$|redirect/i.test(name)) return "/";
  if (/^response$/.test(name)) return { id: "x", rawId: "x", type: "public-key", response: {} };
  if (/password/i.test(name)) return "correct horse";
  if (kind === "boolean") return true;
  if (kind === "number" || kind === "integer") return 1;
  if (kind === "array") return [];
  if (kind === "object") return { name: "Sample" };
  return "sample";
}

const all = [...plugins, passkey({ rpID: "app.test", origin }) as BetterAuthPlugin];
const queries = new Map<string | undefined, unknown>(
  all.flatMap(({ endpoints = {} }) =>
    Object.values(endpoints).map(({ path, options }) => [path, (options as { query?: unknown }).query] as const),
  ),
);
const endpoints = endpointsOf(all).flatMap(({ path, methods, body }) =>
  methods.map((method) => ({ method, path: path.replaceAll(/:\w+/g, "x"), body, query: queries.get(path) })),
);

function membersOf(schema: unknown): Record<string, object> {
  if (schema instanceof z.ZodOptional) return membersOf(schema.unwrap());
  if (!(schema instanceof z.ZodType)) return {};
  const json = z.toJSONSchema(schema, { unrepresentable: "any", io: "input" });
  const parts = [json, ...(json.allOf ?? []), ...(json.anyOf ?? [])] as { properties?: Record<string, object> }[];
  return Object.assign({}, ...parts.map(({ properties }) => properties ?? {}));
}

/** A line for an answer that blames the service. */
async function blame(method: string, path: string, raw: string | undefined, about: string): Promise<string[]> {
  const type = about === "form" ? "application/x-www-form-urlencoded" : "application/json";
  const headers = { origin, authorization: `Bearer ${boss.bearer}`, "content-type": type };
  server.log.length = 0;
  const answer = await fetch(`${server.url}/api/auth${path}`, {
    method,
    headers,
    redirect: "manual",
    ...(raw !== undefined && { body: raw }),
  });
  const text = await answer.text();
  const logged = server.log.map((line) => JSON.parse(line)).filter(({ level }) => level >= 50);
  if (answer.status < 500 && logged.length === 0) return [];
  const cause = logged.map(({ msg, err }) => `${msg} ${err?.message} ${err?.cause?.message ?? ""}`).join("; ");
  return [`${method} ${path.slice(0, 60)} ${about}: ${answer.status} ${text.slice(0, 60)} ${cause.slice(0, 300)}`];
}

/** Members of objects that the schema does not name. */
const inside: Record<string, string[]> = {
  "/admin/update-user": `name email emailVerified image createdAt role banned banReason banExpires username phoneNumber
    twoFactorEnabled isAnonymous id password unknown`.split(/\s+/),
  "/admin/create-user": `image createdAt banned banExpires username phoneNumber id unknown`.split(" "),
};

test.for(endpoints)("$method $path", async ({ method, path, body, query }) => {
  await renew();
  const faults: string[] = [];
  const ask = async (address: string, raw: string | undefined, about: string) =>
    void faults.push(...(await blame(method, address, raw, about)));
  if (method === "GET") {
    for (const name of ["x", ...Object.keys(membersOf(query))]) {
      for (const [about, value] of Object.entries(values)) {
        const text = value.startsWith('"') ? (JSON.parse(value) as string) : value;
        if (!text.isWellFormed()) continue;
        const all = Object.fromEntries(Object.keys(membersOf(query)).map((one) => [one, String(sample(one, {}))]));
        for (const rest of [{}, all]) {
          await ask(`${path}?${new URLSearchParams({ ...rest, [name]: text.slice(0, 9_000) })}`, undefined, about);
        }
      }
    }
  } else {
    const members = membersOf(body);
    const names = Object.keys(members);
    const whole = () => Object.fromEntries(names.map((name) => [name, sample(name, members[name] ?? {})]));
    for (const [about, value] of Object.entries(values)) {
      await ask(path, value, `body ${about}`);
      for (const name of names) await ask(path, withMember(whole(), name, value), `${name} ${about}`);
      for (const name of inside[path] ?? []) {
        const data = withMember({}, name, value);
        await ask(
          path,
          withMember({ ...whole(), email: `${crypto.randomUUID()}@example.com` }, "data", data),
          `data.${name} ${about}`,
        );
      }
    }
    for (const name of names) {
      const { [name]: _, ...rest } = whole();
      await ask(path, JSON.stringify(rest), `without ${name}`);
    }
    for (const raw of [undefined, "", "{", "a=b", "[1"]) await ask(path, raw, `raw ${raw}`);
    await ask(path, "userId=x&data=x&email=x", "form");
  }
  expect(faults).toEqual([]);
});

test("svc's own endpoints", async () => {
  await renew();
  const theirs = new Set(endpoints.map(({ method, path }) => `${method} ${path}`));
  const own = server.router.stack.flatMap(({ route }) => {
    const { path = "", methods = {} } = (route ?? {}) as { path?: string; methods?: Record<string, boolean> };
    return Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/:\w+/g, "x"),
    }));
  });
  const names =
    "email password name token newPassword currentPassword code backupCode callbackURL redirectTo scopes expiresInDays";
  const faults: string[] = [];
  const asked = own.filter(({ method, path }) => path !== "" && !theirs.has(`${method} ${path}`));
  expect(asked.length).toBeGreaterThan(15);
  const whole = { email: "a@example.com", password: "correct horse", name: "x", scopes: ["x"], token: "x" };
  for (const { method, path } of asked) {
    for (const [about, value] of Object.entries(values)) {
      if (method === "GET") {
        const text = value.startsWith('"') ? (JSON.parse(value) as string) : value;
        if (!text.isWellFormed()) continue;
        const query = new URLSearchParams({
          token: text.slice(0, 9_000),
          callbackURL: text.slice(0, 9_000),
          code: "x",
        });
        faults.push(...(await blame(method, `${path}?${query}`, undefined, about)));
      } else {
        faults.push(...(await blame(method, path, value, `body ${about}`)));
        for (const name of names.split(" ")) {
          faults.push(...(await blame(method, path, withMember(whole, name, value), `${name} ${about}`)));
        }
      }
    }
    if (method === "GET") continue;
    for (const raw of [undefined, "", "{", "a=b"]) faults.push(...(await blame(method, path, raw, `raw ${raw}`)));
    faults.push(...(await blame(method, path, "email=x&password=x", "form")));
  }
  expect(faults).toEqual([]);
});

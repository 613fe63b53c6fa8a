// If this file fails, an application's own user fields are lost, wrong, or writable at sign-up.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AuthDefinition, defineAuth } from "../../src/contract/auth.ts";
import { DefinitionError } from "../../src/kit/definition-error.ts";
import { type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

const definition = defineAuth({
  user: {
    additionalFields: {
      role: { type: "text", default: "member" },
      creditLimit: { type: "integer", default: 10 },
      isBeta: { type: "boolean", default: false },
      trialStart: { type: "timestamp", default: "now" },
      nickname: { type: "text" },
      later: { type: "text", default: "has no column yet" },
    },
  },
});

const db = database();
let server: AuthServer;
beforeAll(async () => {
  await db.sql(`set role svc_owner`);
  await db.sql(`alter table auth."user"
    add role text, add credit_limit integer, add is_beta boolean, add trial_start timestamptz, add nickname text`);
  await db.sql(`reset role`);
  server = await startAuthServer(db, { definition });
});
afterAll(() => server.close());

const defaults = { role: "member", creditLimit: 10, isBeta: false, nickname: null };
const userOf = async (credential: string) =>
  (await server.auth.authenticate({ authorization: `Bearer ${credential}` }))?.user;

describe("additional user fields", () => {
  test("start with their defaults, whatever the sign-up asks for", async () => {
    const wish = {
      role: "admin",
      creditLimit: 1e6,
      isBeta: true,
      id: "chosen",
      emailVerified: true,
      fields: { role: "x" },
    };
    const { status, body } = await server.signUp({ ...ann, ...wish });
    expect(status).toBe(200);
    expect(body.user).toEqual({ id: expect.not.stringMatching("chosen"), email: ann.email, name: ann.name });
    const [row] = await db.sql('select * from auth."user" where id = $1', [body.user.id]);
    expect(row).toMatchObject({
      role: "member",
      credit_limit: 10,
      is_beta: false,
      nickname: null,
      email_verified: false,
    });
  });

  test("are in the session, of the declared types, by JWT and by session token alike", async () => {
    const { body } = await server.signUp({ ...ann, email: "types@example.com" });
    for (const credential of [body.token, body.sessionToken]) {
      const user = await userOf(credential);
      expect(user).toEqual({ ...body.user, ...defaults, trialStart: expect.any(Date) });
      expect(Math.abs(Date.now() - Number(user?.trialStart))).toBeLessThan(60_000);
    }
  });

  test("are not in what sign-in and /me answer", async () => {
    const { body } = await server.post("/sign-in", ann);
    expect(body.user).toEqual({ id: expect.any(String), email: ann.email, name: ann.name });
    expect((await server.get("/me", { bearer: body.token })).body).toEqual({ user: body.user });
  });

  test("change for a session token at once, and for a JWT with the next one", async () => {
    const { body } = await server.post("/sign-in", ann);
    await db.sql(`update auth."user" set role = 'editor' where id = $1`, [body.user.id]);
    expect(await userOf(body.sessionToken)).toMatchObject({ role: "editor" });
    await expect.poll(() => userOf(body.token)).toBeUndefined();
    const { token } = (await server.post("/token", undefined, { bearer: body.sessionToken })).body;
    expect(await userOf(token)).toMatchObject({ role: "editor" });
  });

  test("without a column are announced and left out", async () => {
    const { body } = await server.post("/sign-in", ann);
    expect(await userOf(body.sessionToken)).not.toHaveProperty("later");
    expect(server.log.map((line) => JSON.parse(line))).toContainEqual(expect.objectContaining({ fields: ["later"] }));
  });
});

describe("the betterAuth hook", () => {
  test("changes what the library does, and cannot move it to another database or secret", async () => {
    const hooked = await startAuthServer(db, {
      definition: {
        betterAuth: (options) => ({
          ...options,
          secrets: [{ version: 1, value: "x".repeat(40) }],
          database: undefined as never,
          emailAndPassword: { enabled: true, minPasswordLength: 12 },
        }),
      },
    });
    expect(await hooked.signUp({ ...ann, email: "short@example.com", password: "x".repeat(11) })).toMatchObject({
      status: 400,
      body: { code: "VALIDATION_FAILED", issues: [{ path: ["password"] }] },
    });
    const { body } = await hooked.signUp({ ...ann, email: "long@example.com", password: "x".repeat(12) });
    expect(await server.caller(body.token)).toMatchObject({ user: body.user });
    await hooked.close();
  });

  test("makes ids UUIDs, for columns and rows of that type; leaves none to the database", async () => {
    const withIds = (generateId: "uuid" | "serial"): AuthDefinition => ({
      betterAuth: (options) => ({ ...options, advanced: { ...options.advanced, database: { generateId } } }),
    });
    const hooked = await startAuthServer(db, { definition: withIds("uuid") });
    const { body } = await hooked.signUp({ ...ann, email: "uuid@example.com" });
    expect(body.user.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(await hooked.caller(body.sessionToken)).toMatchObject({ user: body.user });
    await hooked.close();
    await expect(startAuthServer(db, { definition: withIds("serial") })).rejects.toThrow(DefinitionError);
  });
});

// declarations, and the name that the error must contain
const mistakes: { definition: unknown; names: RegExp }[] = [
  {
    definition: { emailandpassword: {} },
    names: /"emailandpassword" is not a known key\. Did you mean "emailAndPassword"/,
  },
  {
    definition: { emailAndPassword: { enable: true } },
    names: /emailAndPassword: "enable" is not a known key\. Did you mean "enabled"/,
  },
  {
    definition: { emailAndPassword: { enabled: "false" } },
    names: /emailAndPassword\.enabled: must be true or false .*process\.env.*, got a string/,
  },
  { definition: { emailVerification: { required: 1 } }, names: /emailVerification\.required: must be true or false/ },
  {
    definition: { emailVerification: { sendVerificationEmail: "x" } },
    names: /sendVerificationEmail: must be a function, got a string/,
  },
  { definition: { betterAuth: { plugins: [] } }, names: /betterAuth: must be a function, got an object/ },
  {
    definition: { user: { additionalFields: { role: { type: "text", defaultValue: "member" } } } },
    names: /additionalFields\.role: "defaultValue" is not a known key.* type, default/,
  },
  {
    definition: { user: { additionalFields: { role: "text" } } },
    names: /additionalFields\.role: must be { type: .* }, got a string/,
  },
  { definition: { oauth: { allowedReturnModes: ["cookies"] } }, names: /allowedReturnModes/ },
  ...["number", "string", "date", "json"].map((type) => ({
    definition: { user: { additionalFields: { age: { type } } } },
    names: /additionalFields\.age\.type: must be { type: "text" \| "boolean" \| "integer" \| "timestamp"/,
  })),
  {
    definition: { user: { additionalFields: { age: { type: "constructor" } } } },
    names: /additionalFields\.age\.type: must be/,
  },
  {
    definition: { user: { additionalFields: { email: { type: "text" } } } },
    names: /additionalFields\.email: has the name of a built-in user field/,
  },
  {
    definition: { user: { additionalFields: { snake_case: { type: "text" } } } },
    names: /additionalFields\.snake_case: must be named in camelCase/,
  },
  {
    definition: { user: { additionalFields: { age: { type: "integer", default: "7" } } } },
    names: /additionalFields\.age\.default: must be a whole number/,
  },
];

describe("defineAuth", () => {
  test.for(mistakes)("refuses $definition", ({ definition, names }) => {
    expect(() => defineAuth(definition as AuthDefinition)).toThrow(names);
    expect(() => defineAuth(definition as AuthDefinition)).toThrow(DefinitionError);
  });

  test("gives back what it was given", () => {
    expect(defineAuth({ emailAndPassword: { enabled: true } })).toEqual({ emailAndPassword: { enabled: true } });
  });
});

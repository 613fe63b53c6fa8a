/** A user with a second factor, in a browser that keeps cookies, for two-factor.test.ts. */
import { expect } from "vitest";
import { type Answer, type AuthServer, origin } from "../support/auth-server.ts";
import type { Database } from "../support/database.ts";
import { totp } from "../support/totp.ts";

/** A browser's cookie jar: cookies of an answer are sent with the next request. */
export class Browser {
  readonly #server: AuthServer;
  readonly jar = new Map<string, string>();

  constructor(server: AuthServer) {
    this.#server = server;
  }

  async post(path: string, body: unknown): Promise<Answer> {
    const answer = await this.#server.post(path, body, { headers: { origin, cookie: this.cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split("; ");
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      if (attributes.includes("Max-Age=0")) this.jar.delete(name);
      else this.jar.set(name, value);
    }
    return answer;
  }

  get cookie(): string {
    return [...this.jar].map((pair) => pair.join("=")).join("; ");
  }

  async me(): Promise<string | null> {
    const { body } = await this.#server.get("/me", { headers: { cookie: this.cookie } });
    return body.user?.id ?? null;
  }
}

interface Person {
  email: string;
  password: string;
  name: string;
}

let people = 0;
export const person = (): Person => ({
  email: `person-${++people}@example.com`,
  password: "correct horse",
  name: "Ann",
});

/** A user with a second factor, still signed in where it was switched on. */
export async function enrolled(server: AuthServer, who = person()) {
  const browser = new Browser(server);
  const up = await browser.post("/sign-up/email", who);
  const { password } = who;
  const enable = await browser.post("/two-factor/enable", { password });
  const { totpURI, backupCodes } = enable.body as { totpURI: string; backupCodes: string[] };
  const verified = await browser.post("/two-factor/verify-totp", { code: totp(totpURI) });
  expect([enable.status, verified.status]).toEqual([200, 200]);
  return { ...who, id: up.body.user.id as string, browser, totpURI, backupCodes, verified };
}

/** A browser that has sent the password, and is asked for the code. */
export async function asked(server: AuthServer, { email, password }: Pick<Person, "email" | "password">) {
  const browser = new Browser(server);
  await browser.post("/sign-in/email", { email, password });
  return browser;
}

const devices = `select v.identifier from auth.verification v join auth."user" u on u.id = v.value
  where u.email = $1 and v.identifier like 'trust-device-%'`;

/** The trusted devices, which need no code. */
export const trusted = (db: Database, email: string) => db.sql(devices, [email]);

/** Adds a trusted device. The plugin itself only forgets the device that asks. */
export const trustAnother = (db: Database, email: string) =>
  db.sql(
    `insert into auth.verification (id, identifier, value, expires_at, created_at, updated_at)
     select gen_random_uuid(), 'trust-device-' || id, id, now() + interval '1 day', now(), now()
       from auth."user" where email = $1`,
    [email],
  );

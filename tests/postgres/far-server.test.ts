// If this file fails, commands take seconds to start where PostgreSQL is far: they wait for one login after the other.
import type { Socket } from "node:net";
import { afterAll, expect, test } from "vitest";
import { openExternal } from "../../src/cluster/external.ts";
import { database } from "../support/database.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

const db = database();

/** Passes nothing on before as many clients have connected. */
class Gathering extends TcpProxy {
  readonly #count: number;
  readonly #waiting: (() => void)[] = [];

  constructor(target: string, count: number) {
    super(target);
    this.#count = count;
  }

  protected forward(client: Socket): void {
    this.#waiting.push(() => {
      const upstream = this.connect();
      client.pipe(upstream).pipe(client);
    });
    if (this.#waiting.length >= this.#count) for (const pass of this.#waiting.splice(0)) pass();
  }
}

const logins = ["request", "system", "auth", "admin", "replication"] as const;
const proxy = await new Gathering(db.url("request"), logins.length).listen();
afterAll(() => proxy.stop());

test("the logins of a server are checked at the same time", async () => {
  const through = (login: (typeof logins)[number]) => {
    const url = new URL(db.url(login));
    url.host = new URL(proxy.url).host;
    return url.href;
  };
  const { urls } = await openExternal(
    through("request"),
    {
      DATABASE_SYSTEM_URL: through("system"),
      DATABASE_AUTH_URL: through("auth"),
      DATABASE_ADMIN_URL: through("admin"),
      DATABASE_REPLICATION_URL: through("replication"),
    },
    "all",
  );
  expect(urls.auth).toBe(through("auth"));
});

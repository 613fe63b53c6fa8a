// If this file fails, a client writes lines into an operator's stderr, past the log and its masks.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { apiWith, secret, service } from "../support/service.ts";

const db = database();
const dir = bytesFolder();
const app = service(db, apiWith());

test("a process prints nothing of what a client asked, also not in development", async () => {
  const ann = await app.signUp("ann");
  const { GRAPHILE_ENV: _, ...env } = process.env;
  const args = [JSON.stringify(db.urls), dir, secret];
  const child = fork(join(import.meta.dirname, "../support/service-child.ts"), args, {
    silent: true,
    env: { ...env, NODE_ENV: "development" },
  });
  const printed = Promise.all([child.stdout, child.stderr].map((stream) => stream && text(stream)));
  try {
    const [url] = await once(child, "message");
    const ask = async (query: string, c?: string) => {
      const headers = { "content-type": "application/json", authorization: `Bearer ${ann.sessionToken}` };
      const body = JSON.stringify({ query, variables: { c } });
      return (await fetch(`${url}/api/graphql`, { method: "POST", headers, body })).json();
    };
    for (const cursor of [["a line of mine", 1], ["natural", "a"], []]) {
      const c = Buffer.from(JSON.stringify(cursor)).toString("base64");
      expect(await ask("query ($c: Cursor) { notes(after: $c) { nodes { id } } }", c)).toHaveProperty("errors");
    }
    expect(await ask("{ notes(last: 1, offset: 1) { nodes { id } } }")).toHaveProperty("errors");
  } finally {
    child.kill();
  }
  expect((await printed).join("")).toBe("");
});

// If this file fails, an operator's wrong option ends with a stack, or with advice that does not help.
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();

async function told(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { code, text } = await svcHere(db, fixture, args, env);
  expect(code).toBe(1);
  expect(text).not.toMatch(/^\s+at /m);
  return text;
}

test.for<[string[], string | RegExp]>([
  [["worker", "--queues", "procedures"], 'There is no queue "procedures".\n  Did you mean "procedure"?'],
  [["worker", "--queues", "procedure,,workflow"], 'There is no queue "".'],
  [["crons", "run", "nigthly"], /There is no cron "nigthly"\.\n {2}(None are defined|There are|Did you mean ")/],
  [["keys", "list", "--user", "nobody"], "There is no user nobody.\n  --user takes an id or an e-mail address."],
  [["keys", "revoke", "--user", "nobody"], "There is no user nobody."],
  [["dry-run", "notes.lst"], 'There is no query or mutation notes.lst.","code":"NOT_FOUND","hint":"Did you mean'],
  [["openapi", "--out", "/nowhere/api.json"], "--out takes the path of a file in a folder that exists."],
])("svc %j", async ([args, says]) => {
  expect(await told(args)).toMatch(says);
});

test("an address of another machine", async () => {
  expect(await told(["start"], { SVC_HOST: "192.0.2.1", PORT: "4999" })).toContain(
    "address not available 192.0.2.1:4999\n  SVC_HOST, or host in svc.config.ts, must be an address of this machine",
  );
});

test("a port for metrics that is taken: no job is taken, and the advice names the option", async () => {
  const server = createServer();
  const port = await new Promise<number>((resolve) =>
    server.listen(0, () => resolve((server.address() as { port: number }).port)),
  );
  const text = await told(["worker", "--metrics-port", String(port)]);
  expect(text).toMatch(new RegExp(`Port ${port} is taken.*\n.* Or give --metrics-port another one\\.`));
  expect(text).not.toContain("Taking jobs");
  server.close();
});

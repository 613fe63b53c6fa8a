// If this file fails, the commands of the README and the tutorial do not do what they say.
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copiedApplication, copyApplication, ready } from "../support/application-folder.ts";
import { inTerminal, noDatabase, svcHere, svc as svcIn } from "../support/cli.ts";
import { Collector } from "../support/collector.ts";
import { database } from "../support/database.ts";

const empty = database("template1");
const db = database("platform");
const app = copiedApplication(db, "examples/desk");
const { svc } = app;

/** The same application, with a definition that its generated SQL does not follow. */
let drifted: string;
beforeAll(async () => {
  drifted = await copyApplication("examples/desk");
  const file = join(drifted, "backend/tasks.ts");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace("createCrud(tasks, {", "createCrud(tasks, { maxLimit: 50,"));
});
afterAll(() => rm(drifted, { recursive: true, force: true }));

const hello = async (url: string) => (await fetch(`${url}/api/hello/you`)).json();

describe("svc", () => {
  test("start refuses a database that has not been migrated, and names the command", async () => {
    const { code, text } = await svcHere(empty, app.folder, ["start"]);
    expect(code).toBe(1);
    expect(text).toContain("application/migrations/0001_create_desk.sql");
    expect(text).toMatch(/\d+ of the platform\n/);
    expect(text).toContain("Run `svc migrate` first.");
    expect(text).not.toContain("    at "); // an explained mistake needs no stack
  });

  test("migrate applies what is new, once", async () => {
    const first = await svcHere(db, app.folder, ["migrate"]);
    expect(first.code, first.text).toBe(0);
    expect(first.text).toContain("application/migrations/0001_create_desk.sql");
    expect(first.text).not.toContain("secured"); // no table came without row-level security
    const second = await svcHere(db, app.folder, ["migrate"]);
    expect([second.code, second.text]).toEqual([0, expect.stringContaining("Nothing to do.")]);

    const file = join(app.folder, "sql/crud/tasks.sql");
    const generated = await readFile(file, "utf8");
    await rm(file);
    const third = await svcHere(db, app.folder, ["migrate"]);
    expect([third.code, third.text]).toEqual([0, expect.stringMatching(/dropped svc_crud\.tasks_/)]);
    expect(third.text).not.toContain("Nothing to do.");
    await writeFile(file, generated);
    expect((await svcHere(db, app.folder, ["migrate"])).code).toBe(0);
  });

  test.each([
    ["keys revoke", "Name the id of a key, or a user."],
    ["webhooks retry", "Say what to send again."],
  ])("%s refuses arguments that do not go together before it opens the database", async (words, refusal) => {
    const { code, text } = await svcHere(db, app.folder, words.split(" "), noDatabase);
    expect([code, text]).toEqual([1, expect.stringMatching(new RegExp(`^\\n${refusal}`))]);
  });

  test("codegen needs no database, writes the functions once, and takes stale files away", async () => {
    const file = join(app.folder, "sql/crud/tasks.sql");
    const generated = await readFile(file, "utf8");
    await rm(file);
    await writeFile(join(app.folder, "sql/crud/gone.sql"), "select 1;");
    const { code, text } = await svcHere(db, app.folder, ["codegen"], noDatabase);
    expect(code, text).toBe(0);
    expect(text).toMatch(/wrote sql\/crud\/tasks\.sql\n.*removed sql\/crud\/gone\.sql/s);
    expect(await readFile(file, "utf8")).toBe(generated);
    await expect(readFile(join(app.folder, "sql/crud/gone.sql"))).rejects.toThrow("ENOENT");
  });

  test("start refuses generated SQL of another definition", async () => {
    const { code, text } = await svcHere(db, drifted, ["start"]);
    expect([code, text]).toEqual([1, expect.stringContaining("svc_crud.tasks_list(jsonb) is different")]);
  });

  test("start --allow-drift serves it until SIGTERM, then finishes and exits with 0; a promise that nobody awaits ends nobody's calls", async () => {
    const collector = new Collector();
    const forgets = 'process.on("SIGUSR2",()=>void(Promise.reject(new(Error)("forgotten"))))';
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: await collector.listen(),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(forgets)}`,
    };
    const command = app.endsWithTest(svcIn(db, drifted, ["start", "--allow-drift"], env));
    const url = await ready(command);
    command.child.kill("SIGUSR2");
    await expect.poll(command.output).toMatch(/"message":"forgotten".*an await is missing/);
    expect(await hello(url)).toEqual({ hello: "you" });
    // A second one on its port says so.
    const second = await svcHere(db, app.folder, ["start"], { PORT: new URL(url).port });
    expect(second.code).toBe(1);
    expect(second.text).toMatch(/Port \d+ is taken/);

    command.child.kill("SIGTERM");
    command.child.kill("SIGINT"); // an impatient second one does not cut it short
    expect((await command.ended).code, command.output()).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
    // It has now sent its remaining spans, and its log names the trace.
    const span = collector.spans.find(({ name }) => name === "GET /api/hello/:name");
    collector.close();
    expect(command.output()).toContain(`"trace_id":"${span?.traceId}"`);
  });

  test.runIf(process.platform === "linux")("start ends in order when its terminal is closed", async () => {
    const collector = new Collector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: await collector.listen(), OTEL_BSP_SCHEDULE_DELAY: "600000" };
    const command = app.endsWithTest(inTerminal(db, app.folder, ["start"], env));
    const url = await ready(command);
    expect(await hello(url)).toEqual({ hello: "you" });
    // The terminal is gone, so further output goes nowhere.
    command.child.kill("SIGKILL");
    await collector.find(({ name }) => name === "GET /api/hello/:name"); // sent at the end only
    collector.close();
    await expect.poll(() => fetch(url).catch(() => "ended")).toBe("ended");
  });

  test("start in production without DATABASE_URL refuses", async () => {
    const env = { NODE_ENV: "production", AUTHLIB_SECRET: "x".repeat(40) };
    const none = {
      DATABASE_SYSTEM_URL: "",
      DATABASE_AUTH_URL: "",
      DATABASE_ADMIN_URL: "",
      DATABASE_REPLICATION_URL: "",
    };
    const { code, text } = await svcHere(db, app.folder, ["start"], { ...env, ...none, DATABASE_URL: "" });
    expect(code).toBe(1);
    expect(text).toContain("DATABASE_URL is not set.");
  });

  test("dev follows a change, after a mistake keeps serving the last good version, and says how the command beside it ended", async () => {
    const command = svc(["dev", "--with", "echo beside=$$; exec sleep 1000"]);
    const url = await ready(command);
    expect(await hello(url)).toEqual({ hello: "you" });

    const file = join(app.folder, "backend/board.ts");
    const good = await readFile(file, "utf8");
    await writeFile(file, good.replace("hello: request.params.name", "hi: request.params.name"));
    const changed = await ready(command, 2);
    expect(await hello(changed)).toEqual({ hi: "you" });

    const pids = () =>
      [...command.output().matchAll(/"pid":(\d+),[^\n]*"msg":"listening"/g)].map(([, pid]) => Number(pid));
    await expect.poll(pids).toHaveLength(2); // the log comes a little later than what is said
    process.kill(pids()[1] as number, "SIGKILL");
    await expect.poll(command.output).toContain("The service has crashed: ended by SIGKILL. It starts again in 0.2 s");
    const again = await ready(command, 3);
    expect(await hello(again)).toEqual({ hi: "you" });

    await writeFile(file, good.replace('.path("/api/hello/:name")', '.path("hello")'));
    await expect.poll(command.output).toContain('"hello" cannot be the path of a route.');
    expect(await hello(again)).toEqual({ hi: "you" });

    process.kill(Number(/beside=(\d+)/.exec(command.output())?.[1]), "SIGKILL");
    expect((await command.ended).code, command.output()).toBe(1);
    expect(command.output()).toContain("was ended by SIGKILL, so svc dev ends too.");
    await writeFile(file, good);
  });
});

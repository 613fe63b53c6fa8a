// If this file fails, an old application's crons silently stop running after an upgrade.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { loadApp } from "../../src/app/load-app.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { root } from "../support/global-setup.ts";

const folders: string[] = [];
afterEach(() => Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true }))));

/** Writes an application and returns the names of its crons. */
async function cronsOf(crons: string, bag = ""): Promise<string[]> {
  await mkdir(join(root, ".svc"), { recursive: true });
  const folder = await mkdtemp(join(root, ".svc/crons-")); // inside the project, where @svc/core resolves
  folders.push(folder);
  await mkdir(join(folder, "backend"));
  const write = (file: string, text: string) => writeFile(join(folder, "backend", file), text);
  await write(
    "jobs.ts",
    `import { createSvcProcedureBuilders, cron } from "@svc/core";
     const procedure = createSvcProcedureBuilders();
     export const digest = procedure.internal.name("jobs.digest").handler(() => 1);
     export const nightly = cron.name("nightly").daily({ hour: 3 }).handler(digest);
     export const hourly = cron.name("hourly").interval({ hours: 1 }).handler(digest);`,
  );
  await write(
    "index.ts",
    `import { defineApi } from "@svc/core";
     import { digest, hourly, nightly } from "./jobs.ts";
     void nightly; void hourly;
     export default defineApi({ procedures: { digest }${bag} });`,
  );
  if (crons)
    await write("crons.ts", `import { hourly, nightly } from "./jobs.ts";\nvoid nightly; void hourly;\n${crons}`);
  const { api } = await loadApp(await loadConfig({ cwd: folder, env: {} }));
  return api["~svc"].crons.map(({ name }) => name).sort();
}

const warned = () => {
  const seen: string[] = [];
  vi.spyOn(process, "emitWarning").mockImplementation((_text, options) => {
    seen.push((options as { code: string }).code);
  });
  return seen;
};

test.for([
  { what: "a record", text: "export default { nightly, hourly };", names: ["hourly", "nightly"] },
  { what: "a list", text: "export default [nightly, hourly];", names: ["hourly", "nightly"] },
  { what: "one cron", text: "export default nightly;", names: ["nightly"] },
])("crons.ts with $what is read, with a notice", async ({ text, names }) => {
  const notices = warned();
  expect(await cronsOf(text)).toEqual(names);
  expect(notices).toEqual(["SVC_CRONS_FILE"]);
});

test("a crons bag beside crons.ts keeps its own", async () => {
  expect(await cronsOf("export default { hourly };", ", crons: { nightly }")).toEqual(["hourly", "nightly"]);
});

test("a cron that is in both runs once, and two of one name are an error", async () => {
  expect(await cronsOf("export default { nightly };", ", crons: { nightly }")).toEqual(["nightly"]);
  const other = 'export default { x: cron.name("nightly").daily({ hour: 4 }).handler(digest) };';
  const imports = 'import { cron } from "@svc/core"; import { digest } from "./jobs.ts";';
  await expect(cronsOf(`${imports}\n${other}`, ", crons: { nightly }")).rejects.toThrow(/both name a cron "nightly"/);
});

test("without crons.ts nothing is said", async () => {
  const notices = warned();
  expect(await cronsOf("", ", crons: { nightly }")).toEqual(["nightly"]);
  expect(notices).toEqual([]);
});

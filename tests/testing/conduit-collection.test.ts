// If this file fails, examples/conduit does not do what RealWorld's specification says.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createTestApp } from "@svc/testing";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { testServer } from "../support/test-server.ts";

const run = promisify(execFile);
const collection = [dirname(root), dirname(dirname(root))]
  .map((folder) => join(folder, "shared/conduit/Conduit.postman_collection.json"))
  .find(existsSync);
/** 66 MB, which no other test needs. */
const newman = "newman@6";

const db = database("template0");

test.skipIf(!collection)(
  "answers RealWorld's official collection (skipped where shared/conduit is absent)",
  async () => {
    testServer(db);
    const app = await createTestApp({ api: {}, cwd: join(root, "examples/conduit"), log: "silent" });
    const folder = await mkdtemp(join(tmpdir(), "svc-conduit-"));
    try {
      await writeFile(join(folder, "package.json"), "{}");
      const options = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
      await run("npm", ["install", ...options, newman], { cwd: folder });
      const variables = { APIURL: `${app.url}/api`, USERNAME: "u1", EMAIL: "u1@mail.example", PASSWORD: "password" };
      const given = Object.entries(variables).flatMap(([name, value]) => ["--global-var", `${name}=${value}`]);
      const report = ["--reporters", "json", "--reporter-json-export", "report.json", "--suppress-exit-code"];
      const command = [join(folder, "node_modules/newman/bin/newman.js"), "run", collection as string];
      await run(process.execPath, [...command, ...given, ...report], { cwd: folder });
      const { stats, failures } = JSON.parse(await readFile(join(folder, "report.json"), "utf8")).run;
      type Failure = { source: { name: string }; error: { message: string; test: string } };
      expect(failures.map(({ source, error }: Failure) => `${source.name}: ${error.test} ${error.message}`)).toEqual(
        [],
      );
      expect(stats.assertions.total).toBeGreaterThan(300);
    } finally {
      await app.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
);

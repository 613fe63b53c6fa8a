// If this file fails, the settings that operators copy, and that the rehearsal uses, differ from the docs.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/global-setup.ts";

const read = (name: string) => readFileSync(join(root, name), "utf8");

/** Section by section: in PgBouncer a later section of the same name replaces an earlier one. */
function sections(text: string): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>();
  let section = "";
  for (const line of text.split("\n").map((one) => one.trim())) {
    if (line === "" || line.startsWith(";")) continue;
    const [, name] = /^\[(\w+)\]$/.exec(line) ?? [];
    if (name !== undefined) {
      expect(found.has(name), `[${name}] again`).toBe(false);
      section = name;
      found.set(section, new Map());
      continue;
    }
    const [, key = "", value = ""] = /^(\w+) = (.+)$/.exec(line) ?? [];
    expect(key, line).not.toBe("");
    expect(found.get(section)?.has(key), `${key} again`).toBe(false);
    found.get(section)?.set(key, value);
  }
  return found;
}

test("deploy/pgbouncer.ini shares by transaction, knows statements by name, and has sessions for those that need one", () => {
  const ini = sections(read("deploy/pgbouncer.ini"));
  expect([...ini.keys()]).toEqual(["databases", "pgbouncer"]);
  expect(ini.get("databases")?.get("svc")).not.toContain("pool_mode");
  expect(ini.get("databases")?.get("svc_session")).toContain("pool_mode=session");
  expect(ini.get("pgbouncer")?.get("pool_mode")).toBe("transaction");
  expect(Number(ini.get("pgbouncer")?.get("max_prepared_statements"))).toBeGreaterThan(0);
});

test("deploy/haproxy.cfg asks /readyz, sticks to nothing, and sends no request twice", ({ skip }) => {
  const text = read("deploy/haproxy.cfg");
  expect(text).toMatch(/^ {2}option httpchk GET \/readyz$/m);
  expect(text).toMatch(/^ {2}retry-on conn-failure$/m);
  expect(text).not.toMatch(/^\s*(stick|cookie)\b/m);
  const checked = spawnSync("haproxy", ["-c", "-f", join(root, "deploy/haproxy.cfg")], { encoding: "utf8" });
  if (checked.error) return skip("haproxy is not installed");
  expect(checked.status, checked.stderr).toBe(0);
});

test("the rehearsal and its settings are where the docs say", () => {
  const scripts = JSON.parse(read("package.json")).scripts;
  expect(read(scripts["rehearse:scale"].replace(/^node /, ""))).toContain("startServers");
});

test("docs/explanation/distributed.md says of every table of the platform where it would lie", () => {
  const page = read("docs/explanation/distributed.md");
  const tables = [...read("sql/schema.dump.sql").matchAll(/^-- table (\S+):/gm)].map(([, name = ""]) => name);
  expect(tables.length).toBeGreaterThan(20);
  expect(tables.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

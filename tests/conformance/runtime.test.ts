// If this file fails, an application's procedures are built by different builders, or by an untyped one of the package.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as core from "../../src/index.ts";

const backend = join(import.meta.dirname, "../../examples/desk/backend");
const builders = ["procedure", "createCrud", "httpRoute"];

/** The imported names of a file, by module. */
function importsOf(text: string): Map<string, string[]> {
  const found = [...text.matchAll(/import\s+(?:type\s+)?\{([^}]*)\}\s+from\s+"([^"]+)"/g)];
  return new Map(found.map(([, names = "", from = ""]) => [from, names.split(",").map((name) => name.trim())]));
}

test("the package offers makers of builders, not the builders themselves", () => {
  expect(Object.keys(core)).toEqual(
    expect.arrayContaining(["createSvcProcedureBuilders", "createSvcHttpRouteBuilders", "createCrudFactory"]),
  );
  expect(Object.keys(core).filter((name) => builders.includes(name))).toEqual([]);
});

test("the example application makes its builders in one module and imports them from there", () => {
  const makers: string[] = [];
  const users: string[] = [];
  for (const file of readdirSync(backend).filter((name) => name.endsWith(".ts"))) {
    const text = readFileSync(join(backend, file), "utf8");
    if (/\bcreate(Svc\w+Builders|CrudFactory)\b/.test(text)) makers.push(file);
    for (const [from, names] of importsOf(text)) {
      if (names.some((name) => builders.includes(name))) users.push(from);
    }
  }
  expect(makers).toEqual(["runtime.ts"]);
  expect(users.length).toBeGreaterThan(1);
  expect(new Set(users)).toEqual(new Set(["./runtime.ts"]));
});

// If this file fails, a package is installed without a stated reason, or svc asks for a package that it does not declare.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { features } from "../../src/kit/optional-packages.ts";
import { root } from "../support/global-setup.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const manifests = [
  "package.json",
  "client/dev/package.json",
  "client/tanstack-db/package.json",
  "src/documents/engines/package.json",
];
const namesIn = (path: string, ...kinds: string[]) => {
  const manifest = JSON.parse(read(path)) as Record<string, Record<string, string> | undefined>;
  return kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {}));
};

test("ADR 23 gives a reason for every dependency", () => {
  const reasons = read("docs/adr/0023-what-is-installed.md");
  const declared = manifests.flatMap((path) =>
    namesIn(path, "dependencies", "peerDependencies", "optionalDependencies"),
  );
  expect(declared.length).toBeGreaterThan(40);
  expect(declared.filter((name) => !reasons.includes(`\`${name}\``))).toEqual([]);
});

test("every optional peer dependency belongs to a feature, which names it if it is missing", () => {
  const asked = Object.values(features).flatMap(({ packages }) => packages);
  const optional = Object.keys(JSON.parse(read("package.json")).peerDependenciesMeta);
  expect([...asked].sort()).toEqual(optional.sort());
  expect(namesIn("package.json", "peerDependencies").sort()).toEqual(optional);
});

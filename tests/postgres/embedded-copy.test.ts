// If this file fails, the embedded PostgreSQL cannot be set up where node_modules is read only.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyPackage } from "../../src/cluster/embedded.ts";

test("links and pgvector can be added to the copy of a package that is read only", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-embedded-"));
  const [source, copy] = [join(folder, "native"), join(folder, "copy")];
  const own = ["bin", "lib"].map((name) => join(source, name));
  onTestFinished(() => {
    for (const path of own) chmodSync(path, 0o755);
    rmSync(folder, { recursive: true });
  });
  for (const path of own) mkdirSync(path, { recursive: true });
  for (const name of ["bin/postgres", "lib/libpq.so.5.1", "lib/libpq.a"]) writeFileSync(join(source, name), "");
  const link = { source: "native/lib/libpq.so.5.1", target: "native/lib/libpq.so" };
  writeFileSync(join(source, "pg-symlinks.json"), JSON.stringify([link]));
  for (const path of own) chmodSync(path, 0o555);

  await copyPackage(source, copy);
  expect(statSync(join(copy, "lib")).mode & 0o200).toBe(0o200);
  expect(readlinkSync(join(copy, "lib/libpq.so"))).toBe("libpq.so.5.1");
  expect(statSync(join(copy, "bin/postgres")).mode & 0o111).toBe(0o111);
  expect(existsSync(join(copy, "lib/libpq.a"))).toBe(false);
});

// If this file fails, a package of an application cannot publish its types: the compiler cannot name a type of svc.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/global-setup.ts";

test("tsc --declaration takes an application with hooks, channels and workflows", () => {
  const folder = mkdtempSync(join(root, "tests/types/.declarations-"));
  try {
    const options = { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: root, outDir: folder };
    const include = [join(root, "examples/desk/backend/**/*.ts")];
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: "../../../tsconfig.json", include, compilerOptions: options }),
    );
    const tsc = join(root, "node_modules/.bin/tsc");
    const { status, stdout } = spawnSync(tsc, ["-p", folder, "--pretty", "false"], { encoding: "utf8" });
    expect([stdout, status]).toEqual(["", 0]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

// If this file fails, the audit reads an older version of a file, or every service keeps Node's compiler in memory.
import { randomUUID } from "node:crypto";
import module, { getCompileCacheDir, syncBuiltinESMExports } from "node:module";
import { expect, onTestFinished, test, vi } from "vitest";
import { withoutTypes } from "../../src/audit/without-types.ts";

test("types are removed once for each version of a file", () => {
  expect(getCompileCacheDir()).toBeTruthy();
  const compiler = vi.spyOn(module, "stripTypeScriptTypes");
  syncBuiltinESMExports();
  onTestFinished(() => {
    compiler.mockRestore();
    syncBuiltinESMExports();
  });
  const path = `/application/${randomUUID()}.ts`;
  const [first, second] = [`const one: number = 1; // ü ${path}`, `const two: number = 2; // ü ${path}`];
  const blank = (text: string) => text.replace(": number", " ".repeat(8));
  expect(withoutTypes(path, first)).toBe(blank(first));
  expect(withoutTypes(path, first)).toBe(blank(first));
  expect(compiler).toHaveBeenCalledTimes(1);
  expect(withoutTypes(path, second)).toBe(blank(second));
  expect(withoutTypes(path, first)).toBe(blank(first));
  expect(compiler).toHaveBeenCalledTimes(3);
  expect(() => withoutTypes(path, "const = 1")).toThrow(SyntaxError);
});

// If this file fails, somebody without an account reaches what no policy guards, or a harmless handler is refused.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditCase, type Case, readCases } from "./applications.ts";

const refused = await readCases("refused");
const allowed = await readCases("allowed");
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-audit-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("there are cases of both kinds, and each refused one says where", () => {
  expect(refused.length).toBeGreaterThanOrEqual(40);
  expect(allowed.length).toBeGreaterThanOrEqual(20);
  expect(refused.filter(({ expected }) => expected.length === 0).map(({ name }) => name)).toEqual([]);
  expect(allowed.filter(({ expected }) => expected.length > 0).map(({ name }) => name)).toEqual([]);
});

/** Audits a case and expects findings at exactly the marked lines, each with the marked text. */
async function expectRefusal(application: Case): Promise<void> {
  const findings = await auditCase(folder, application);
  const places = (lines: { place: string }[]) => [...new Set(lines.map(({ place }) => place))].toSorted();
  const found = findings.map(({ file, line, handler = "", what }) => ({
    place: `${file}:${line}`,
    text: `${handler}: ${what}`,
  }));
  expect(places(found), JSON.stringify(findings, null, 2)).toEqual(places(application.expected));
  for (const { place, text } of application.expected) {
    const there = found.filter((finding) => finding.place === place).map((finding) => finding.text);
    expect(there.join("\n")).toContain(text);
  }
}

const of = (names: RegExp) => refused.filter(({ name }) => names.test(name));

describe("code that reaches past the policies, at exactly these lines", () => {
  test.for(of(/^(?!comment-|table-|schema-|migration)/))("$name is refused: $title", expectRefusal);
});

describe("allow comments that are incomplete or elsewhere", () => {
  test.for(of(/^comment-/))("$name allows nothing: $title", expectRefusal);
});

describe("runtime tables", () => {
  test.for(of(/^table-/))("$name is not exposed: $title", expectRefusal);
  test.for(of(/^(schema-|migration)/))("$name is not modelled: $title", expectRefusal);
});

describe("everything else", () => {
  test.for(allowed)("$name is allowed: $title", async (application) => {
    expect(await auditCase(folder, application)).toEqual([]);
  });
});

// If this file fails, somebody without an account reaches what no policy guards, or a harmless handler is refused.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditCase, readCases } from "./applications.ts";

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

describe("refused, at exactly these lines", () => {
  test.for(refused)("$name: $title", async (application) => {
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
  });
});

describe("allowed", () => {
  test.for(allowed)("$name: $title", async (application) => {
    expect(await auditCase(folder, application)).toEqual([]);
  });
});

// If this file fails, an anonymous caller reaches data that no policy protects, or a harmless handler is refused.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../support/global-setup.ts";
import { type Case, readCases, writeCase, writePackages } from "./cases.ts";

const subjects = ["names", "code", "builders", "sql", "opaque", "comments", "tables"] as const;
const refused = Object.fromEntries(
  await Promise.all(subjects.map(async (subject) => [subject, await readCases(subject)] as const)),
) as Record<(typeof subjects)[number], Case[]>;
const allowed = (
  await Promise.all(["allowed", "allowed-comments", "allowed-sql"].map((file) => readCases(file)))
).flat();

let folder: string;
/** The refusal of each application. */
let messages: Record<string, string>;

beforeAll(async () => {
  // Inside the project, where @svc/core resolves.
  await mkdir(join(root, ".svc"), { recursive: true });
  folder = await mkdtemp(join(root, ".svc/audit-"));
  await writePackages(folder);
  const all = [...Object.values(refused).flat(), ...allowed];
  const folders = await Promise.all(all.map((one) => writeCase(folder, one)));
  const child = join(import.meta.dirname, "load-child.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [child, ...folders], { maxBuffer: 2 ** 26 });
  messages = JSON.parse(stdout);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const messageOf = ({ name }: Case): string => messages[join(folder, name)] as string;

test("there are cases of both kinds, and each refused one says where", () => {
  const all = Object.values(refused).flat();
  expect(all.length).toBeGreaterThanOrEqual(110);
  expect(allowed.length).toBeGreaterThanOrEqual(50);
  expect(all.filter(({ expected }) => expected.length === 0).map(({ name }) => name)).toEqual([]);
  expect(allowed.filter(({ expected }) => expected.length > 0).map(({ name }) => name)).toEqual([]);
  expect(new Set([...all, ...allowed].map(({ name }) => name)).size).toBe(all.length + allowed.length);
});

/** Expects a refusal that names exactly the marked lines, each with the marked text and a remedy. */
function expectRefusal(application: Case): void {
  const message = messageOf(application);
  const found = [...message.matchAll(/^ {2}(\S+:\d+):\d+\n {4}(.+)\n {4}(.+)$/gm)].map(([, place, text]) => ({
    place,
    text,
  }));
  const places = (lines: { place?: string | undefined }[]) => [...new Set(lines.map(({ place }) => place))].toSorted();
  expect(places(found), message).toEqual(places(application.expected));
  for (const { place, text } of application.expected) {
    const there = found.filter((finding) => finding.place === place).map((finding) => finding.text);
    expect(there.join("\n")).toContain(text);
  }
}

describe("code that reaches past the policies, at exactly these lines", () => {
  test.for([refused.names, refused.code, refused.builders, refused.sql, refused.opaque].flat())(
    "$name is refused: $title",
    expectRefusal,
  );
});

describe("allow comments that are incomplete or elsewhere", () => {
  test.for(refused.comments)("$name allows nothing: $title", expectRefusal);
});

describe("runtime tables", () => {
  test.for(refused.tables.filter(({ name }) => name.startsWith("table-")))(
    "$name is not exposed: $title",
    expectRefusal,
  );
  test.for(refused.tables.filter(({ name }) => !name.startsWith("table-")))(
    "$name is not modelled: $title",
    expectRefusal,
  );
});

describe("everything else", () => {
  test.for(allowed)("$name is allowed: $title", (application) => {
    expect(messageOf(application)).toBe("");
  });
});

// If this file fails, a document cannot be converted to Markdown at the command line, or the error does not say why.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runHere } from "../support/cli.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-convert-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Needs neither database nor configuration, so it runs without them. */
async function convert(name: string, bytes: string | Buffer | null, ...options: string[]) {
  if (bytes !== null) await writeFile(join(folder, name), bytes);
  const { code, out, error } = await runHere(["convert", name, ...options], {}, folder);
  return { code, out, error };
}

test("prints Markdown, and nothing else", async () => {
  expect(await convert("table.csv", "a,b\n1,2\n")).toEqual({
    code: 0,
    out: "| a | b |\n| --- | --- |\n| 1 | 2 |\n",
    error: "",
  });
});

test("--json prints the whole result", async () => {
  const { out } = await convert("page.html", "<h1>Title</h1><p>Words</p>", "--json");
  expect(JSON.parse(out)).toMatchObject({
    kind: "html",
    markdown: "# Title\n\nWords",
    text: "Title\n\nWords",
    sections: [{ level: 1, title: "Title", offset: 0 }],
    providerTrace: [{ provider: "local_text", outcome: "used" }],
    creditsCharged: 0,
  });
});

test("says what to do instead, on standard error, with exit code 1", async () => {
  const { code, out, error } = await convert("picture.png", Buffer.from("89504e470d0a1a0a", "hex"));
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(error).toContain("An image cannot be converted.");
  expect(error).toContain("ai.vision.extractText");
});

test("a file that is not there is named, without a stack", async () => {
  const { code, error } = await convert("gone.pdf", null);
  expect(code).toBe(1);
  expect(error).toMatch(/^\ngone\.pdf cannot be read: ENOENT[^\n]*\.\n$/);
});

// If this file fails, the desk cannot answer from svc's documentation or from a user's own documents, its citations do
// not open, or a dropped document is not read.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { docx, pdf } from "../support/papers.ts";
import { barriers, chromiumPath, deskApp, signUp, whySkipped } from "./desk-app.ts";

/** A document of the shared corpora, if available. */
function hwp(): string | undefined {
  for (let folder = root; ; folder = dirname(folder)) {
    const file = join(folder, "shared/corpora/documents/hwp/hwpjs__noori.hwp");
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) return undefined;
  }
}

if (!chromiumPath) {
  test.skip(`documents in a browser: ${whySkipped}`);
} else {
  const app = deskApp(database("platform"));
  beforeAll(() => app.startWorker());

  const sectionOf = async (page: Page, name: string, heading = name) => {
    await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name }).click();
    await page.getByRole("heading", { name: heading }).waitFor();
    return page.getByRole("region", { name: heading });
  };
  const ask = async (page: Page, text: string) => {
    await page.getByRole("searchbox").fill(text);
    await page.keyboard.press("Enter");
  };

  test("the documentation is stored at the first visit, and whoever has no account asks it", async () => {
    const page = await app.page();
    const docs = await sectionOf(page, "Docs", "Ask the docs");
    await docs.getByText(/^\d+ documents$/).waitFor();

    await ask(page, "A transaction that rolls back never sends events.");
    await docs.getByText("The documents say so.").waitFor();
    const passage = docs.getByRole("listitem").filter({ hasText: "Says so" }).first();
    // Its score, and the sentence as a snippet. Its citation opens the section, in which the sentence is marked.
    await passage.getByText(/^\d+% of your words/).waitFor();
    await passage.locator("blockquote", { hasText: "A transaction that rolls back never sends events." }).waitFor();
    await passage.getByText("Realtime › Who is notified").click();
    await passage.locator("mark", { hasText: "A transaction that rolls back never sends events." }).waitFor();
    expect(await barriers(page)).toEqual([]);

    await ask(page, "A transaction that rolls back always sends events.");
    await docs.getByText("The documents do not say so.").waitFor();

    await ask(page, "How does a user reset a forgotten password?");
    await docs
      .getByText(/password/i)
      .first()
      .waitFor();
    // A question is not a claim: passages, and no verdict.
    expect(await docs.getByText(/% of your words/).count()).toBeGreaterThan(0);
    expect(await docs.getByText(/^The documents/).count()).toBe(0);
    // Words without a full stop ask as well.
    await ask(page, "upsert");
    await docs
      .getByText(/Query your data/)
      .first()
      .waitFor();
    expect(await docs.getByText(/^The documents/).count()).toBe(0);
    expect(await docs.getByRole("alert").count()).toBe(0);
  });

  describe("a person's own documents", () => {
    const pages = [
      ["Opening hours", "The office opens at 8:00 and closes at 17:00.", "It is closed on Sundays."],
      ["Fees", "Every boat pays a mooring fee of 12 euros per night."],
    ];

    test("are dropped, read, asked about by their owner alone, and removed", async () => {
      const page = await app.page();
      await signUp(page, "Ada");
      const library = await sectionOf(page, "Library");
      await library.getByLabel("Add documents").setInputFiles([
        { name: "Harbour rules.pdf", mimeType: "application/pdf", buffer: pdf(pages) },
        { name: "quay.docx", mimeType: "", buffer: await docx(["# Quay", "The quay is 240 metres long."]) },
      ]);
      const documents = library.getByRole("list", { name: "Documents" });
      await documents.getByText("Harbour rules.pdf").waitFor();
      await documents.getByText("quay.docx").waitFor();
      expect(await barriers(page)).toEqual([]);

      await ask(page, "Every boat pays a mooring fee of 12 euros per night.");
      await library.getByText("The documents say so.").waitFor();
      await library.getByText("Harbour rules.pdf › Fees · page 2").click();
      await library.locator("mark").waitFor();
      await ask(page, "Every boat pays a mooring fee of 15 euros per night.");
      await library.getByText("The nearest passage names another number.").waitFor();
      await ask(page, "The quay is 240 metres long.");
      await library.getByText("quay.docx › Quay").waitFor();

      const other = await app.page();
      await signUp(other, "Bob");
      await sectionOf(other, "Library");
      await other.getByText("Drop documents here").waitFor();
      expect(await other.getByText("quay.docx").count()).toBe(0);

      const row = documents.getByRole("listitem").filter({ hasText: "quay.docx" });
      await row.getByRole("button", { name: "Remove" }).press("Enter");
      await page.keyboard.press("Enter");
      await row.waitFor({ state: "detached" });
    });

    test("that cannot be read say why", async () => {
      const page = await app.page();
      await signUp(page, "Cleo");
      const library = await sectionOf(page, "Library");
      const buffer = Buffer.from("%PDF-1.4 nothing of one");
      await library.getByLabel("Add documents").setInputFiles({ name: "broken.pdf", mimeType: "", buffer });
      await library.getByText("broken.pdf could not be read.").waitFor();
      expect(await barriers(page)).toEqual([]);
      await library.getByRole("button", { name: "Put away" }).click();
      await library.getByText("broken.pdf").waitFor({ state: "detached" });
    });

    const path = hwp();
    test.skipIf(!path)("are HWP, too, on a phone (skipped where shared/corpora is absent)", async () => {
      const page = await app.page({ viewport: { width: 360, height: 740 } });
      await signUp(page, "Han");
      const library = await sectionOf(page, "Library");
      await library.getByLabel("Add documents").setInputFiles(path as string);
      await library.getByRole("list", { name: "Documents" }).getByText("noori.hwp").waitFor();
      await ask(page, "누리호");
      await library.getByRole("list", { name: "Passages" }).getByRole("listitem").first().waitFor();
      const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
      expect(await page.evaluate(overflow)).toBe(0);
      expect(await barriers(page)).toEqual([]);
    });
  });
}

// If this file fails, the start page does not answer from its long PDF, or a citation names the wrong page.
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { barriers, chromiumPath, deskApp, whySkipped } from "./desk-app.ts";

if (!chromiumPath) {
  test.skip(`the start page's PDF in a browser: ${whySkipped}`);
} else {
  const db = database("platform");
  const app = deskApp(db);
  beforeAll(() => app.startWorker());

  test("a PDF of some hundred pages is read on the first visit, and each passage opens its page", async () => {
    const page = await app.page({ viewport: { width: 1200, height: 900 } }, "live");
    const part = page.getByRole("region", { name: "A long PDF, and answers with their pages" });
    await part.getByText("The PDF is being read.").waitFor();
    await part.getByText("The documents say so.").waitFor({ timeout: 100_000 });
    const passage = part.getByRole("listitem").filter({ hasText: "Says so" }).first();
    const link = passage.getByRole("link", { name: /^Page \d+ of the PDF$/ });
    const number = Number(/\d+/.exec((await link.textContent()) ?? "")?.[0]);
    expect(number).toBeGreaterThan(20);
    const address = new URL((await link.getAttribute("href")) ?? "", app.url);
    expect(address.hash).toBe(`#page=${number}`);
    expect((await fetch(address)).headers.get("content-type")).toBe("application/pdf");

    await part.getByRole("button", { name: "How do I restore a backup?" }).click();
    await part
      .getByRole("listitem")
      .filter({ hasText: /restore/i })
      .getByRole("link")
      .first()
      .waitFor();
    const runs = await db.sql("select status from svc.workflow_runs where name = 'handbook.read'");
    expect(runs).toEqual([{ status: "completed" }]);
    expect(await barriers(page)).toEqual([]);
    if (process.env.PICTURES) await page.screenshot({ path: "/tmp/handbook.png", fullPage: true });
  });
}

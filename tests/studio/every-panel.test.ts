// If this file fails, a panel of Studio runs foreign scripts, is not accessible, or breaks by what is typed.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { chromiumPath, whySkipped } from "../browser/desk-app.ts";
import { run, studioInBrowser } from "./browser-studio.ts";

if (!chromiumPath) {
  test.skip(`Studio in a browser: ${whySkipped}`);
} else {
  const { db, complaints, tab, settled } = studioInBrowser();
  const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

  const places = [
    "",
    "?panel=data",
    "?panel=data&table=public.notes&as=ann&ghosts=1",
    '?panel=data&table=public.notes&as=ann&ghosts=1&row=["1"]',
    "?panel=audit",
    '?panel=audit&table=public.notes&key=["1"]&as=ben',
    "?panel=webhooks",
    "?panel=webhooks&state=pending&webhook=note.done",
    "?panel=policies",
    "?panel=policies&table=public.notes",
    "?panel=workflows",
    `?panel=workflows&run=${run}`,
    "?panel=jobs",
    "?panel=jobs&state=due",
    "?panel=jobs&state=finished&least=100",
    "?panel=crons",
    "?panel=people",
    "?panel=people&user=ann",
    "?panel=people&user=ben",
    "?panel=people&list=organizations",
    "?panel=people&organization=o1",
    "?panel=sql&as=ann&sql=select 1 as one, null as two",
    "?panel=run",
    "?panel=run&name=notes.create&as=ann",
    "?panel=requests",
    "?panel=requests&trace=t1",
    "?panel=mailbox",
    "?panel=storage",
    "?panel=realtime",
    "?panel=search&table=public.pages&query=milk",
    "?panel=ai",
    "?panel=dba",
    "?panel=migrations",
    "palette",
    "edit",
    "new row",
  ];
  const notes = "?panel=data&table=public.notes&as=ann";
  const addresses: Record<string, string> = { palette: "", edit: `${notes}&row=["2"]`, "new row": notes };

  async function visit(page: Page, place: string): Promise<void> {
    // As a link of the page does; loading it anew for each place takes most of the time.
    await page.evaluate(
      (address) => {
        history.pushState(null, "", address);
        dispatchEvent(new PopStateEvent("popstate"));
      },
      `/${addresses[place] ?? place}`,
    );
    await settled(page);
    if (place === "edit") await page.getByRole("button", { name: "Edit" }).press("Enter");
    if (place === "new row") await page.getByRole("button", { name: "New row" }).press("Enter");
    if (place !== "palette") return;
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Home" }).waitFor();
  }

  test.each(["light", "dark"] as const)("axe finds nothing in the %s scheme, on any panel", async (scheme) => {
    const page = await tab("", scheme);
    await page.evaluate(await readFile(axe, "utf8"));
    for (const place of places) {
      await visit(page, place);
      const found = await page.evaluate(async (scheme) => {
        // biome-ignore lint/suspicious/noExplicitAny: axe adds itself to the page
        const { violations } = await (globalThis as any).axe.run(
          scheme === "dark" ? { runOnly: ["color-contrast"] } : {},
        );
        return violations.map(
          ({ id, nodes }: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
            `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("; ")}`,
        );
      }, scheme);
      expect([place, found]).toEqual([place, []]);
    }
  });

  const clicks = Number(process.env.CLICKS ?? 2 * places.length);
  /** What somebody or something types that the page did not expect. */
  const texts = [
    "",
    "ann",
    "ann@example.com",
    "1",
    "-1",
    "1e999",
    "99999999999999999999",
    "null",
    "{",
    '["1"]',
    "%_\\",
    "'; delete from notes; --",
    '"',
    "<img src=x onerror=alert(1)>",
    "select 1; select 2",
    "select pg_sleep(0)",
    "😀\ud83d",
    "\0",
    "x".repeat(20_000),
  ];
  test("random clicks and texts on each panel find no error, and each act leaves one line", {
    timeout: 60_000 + clicks * 500,
  }, async () => {
    const seed = Number(process.env.CLICK_SEED ?? (process.env.CLICKS ? Date.now() % 1e6 : 20_260_101));
    let state = seed;
    const random = () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 2_147_483_648;
    };
    const lines = async () => Number((await db.sql("select count(*)::integer as n from svc.operator_acts"))[0]?.n);
    const before = await lines();
    const page = await tab();
    const failed: string[] = [];
    let acts = 0;
    let waiting = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/api/act")) waiting++;
    });
    page.on("response", (response) => {
      if (response.url().endsWith("/api/act")) waiting--;
      if (response.status() >= 500) failed.push(`${response.url()} ${response.status()}`);
      if (response.url().endsWith("/api/act") && response.ok()) acts++;
    });
    // A click may have deleted the row that is edited.
    const clicked = places.filter((place) => place !== "edit");
    for (let i = 0; i < clicks; i++) {
      // As often from each panel; in between the clicks lead elsewhere.
      if (i % 2 === 0) await visit(page, clicked[(i / 2) % clicked.length] as string);
      const text = random() < 0.3 ? (texts[Math.floor(random() * texts.length)] as string) : null;
      await page.evaluate(act, { text, onlyButtons: random() < 0.5, part: random() });
      await settled(page);
      if (await page.locator("dialog.palette").count()) await page.keyboard.press("Escape");
      expect([seed, i, await page.locator("h1").count()]).toEqual([seed, i, 1]);
    }
    await expect.poll(() => waiting).toBe(0);
    await page.close();
    expect([seed, failed, complaints, (await lines()) - before]).toEqual([seed, [], [], acts]);
    expect([seed, acts]).toEqual([seed, expect.toSatisfy((count: number) => count > 0)]);
    if (process.env.CLICKS) console.log(`${clicks} clicks, ${acts} acts, seed ${seed}`);
  });

  /** In the browser: clicks something, or types into something and submits it. @param part which of them, from 0 to 1 */
  function act({ text, onlyButtons, part }: { text: string | null; onlyButtons: boolean; part: number }): void {
    // An open dialog hides the rest.
    const within = document.querySelector("dialog[open]") ?? document;
    const one = <Kind>(all: ArrayLike<Kind>): Kind | undefined => all[Math.floor(part * all.length)];
    const field = text === null ? undefined : one(within.querySelectorAll<HTMLInputElement>("input, textarea, select"));
    if (!field || text === null) {
      const buttons = within.querySelectorAll<HTMLElement>("main button");
      const all = within.querySelectorAll<HTMLElement>("a:not([target]), button, summary, [role=option]");
      one(onlyButtons && buttons.length > 0 ? buttons : all)?.click();
    } else if (field.type === "checkbox") {
      field.click();
    } else {
      field.focus();
      field.value = text;
      for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
      field.form?.requestSubmit();
    }
  }
}

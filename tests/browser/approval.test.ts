// If this file fails, the start page's workflow does not survive the process that its visitors kill.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { type Command, svc } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { barriers, chromiumPath, desk, whySkipped } from "./desk-app.ts";

if (!chromiumPath) {
  test.skip(`the start page's workflow in a browser: ${whySkipped}`);
} else {
  const db = database("platform");
  let command: Command;
  let browser: Browser;

  beforeAll(async () => {
    const env = { ...process.env, NODE_ENV: "production" };
    await promisify(execFile)(process.execPath, [join(desk, "build.ts")], { env });
    await migrate({ adminUrl: db.url("admin"), platform: root, application: desk });
    command = svc(db, desk, ["start", "--processes", "2", "--with-worker"]);
    browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    command.child.kill("SIGTERM");
    await command.ended;
  });

  test("Ann files, Bob approves, somebody kills the process that pays, and another one pays once", async () => {
    const ready = () => /Ready: (\S+), 2 processes/.exec(command.output())?.[1] ?? command.output();
    await expect.poll(ready).toMatch(/^http/);
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    await page.goto(ready());
    const part = page.getByRole("region", { name: "A workflow across two people" });
    await part.getByRole("button", { name: /^File a taxi/ }).click();
    await part.getByRole("button", { name: "Approve" }).click();
    await part.getByRole("button", { name: "Kill the process" }).click();
    await part.getByText(/^Paid, by process \d+$/).waitFor({ timeout: 50_000 });
    const [begun = "", paid = ""] = await part.getByText(/by process \d+$/).allTextContents();
    expect(begun).toMatch(/^Payment begins, by process \d+$/);
    expect(/\d+/.exec(paid)?.[0]).not.toBe(/\d+/.exec(begun)?.[0]);
    expect(await db.sql("select status from public.expenses")).toEqual([{ status: "approved" }]);
    const steps = await db.sql("select count(*)::int as times from svc.workflow_steps where name = 'pay' and is_done");
    expect(steps).toEqual([{ times: 1 }]);
    expect(await barriers(page)).toEqual([]);
    if (process.env.PICTURES) await page.screenshot({ path: "/tmp/approval.png", fullPage: true });
  });
}

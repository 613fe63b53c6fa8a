// If this file fails, an operator's browser does not show the channels that processes tell.
import { expect, test } from "vitest";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import { chromiumPath, whySkipped } from "../browser/desk-app.ts";
import * as schema from "../fixture/backend/schema.ts";
import { channels, procedures } from "../realtime/channel-application.ts";
import { apiWith, TestService } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";
import { studioInBrowser } from "./browser-studio.ts";

if (!chromiumPath) {
  test.skip(`channels in a browser: ${whySkipped}`);
} else {
  const { db, tab, settled } = studioInBrowser();
  const api = apiWith({ procedures, channels });
  const running = new TestService(db, api, {}, schema);
  const connect = sockets(running);

  test("Realtime: channels by process, and the last messages by their sizes; nothing is asked before the press", async () => {
    await db.sql(realtimeFile(followedTables(api, schema)));
    await running.start();
    try {
      const query = 'lobby::{"n":1}';
      const one = await connect(null);
      one.send({ type: "subscribe", query });
      await one.wait({ type: "subscribed", query });
      one.send({ type: "send", query, event: "said", data: { text: "<b>secret</b>" }, ref: 1 });
      await one.wait({ data: { sent: 1 } });
      const page = await tab();
      const calls: string[] = [];
      page.on("request", (request) => calls.push(request.url().split("/api/")[1] ?? ""));
      await page.getByRole("link", { name: "Realtime" }).press("Enter");
      await page.getByRole("button", { name: "Ask the processes" }).waitFor();
      await settled(page);
      expect(calls).not.toContain("channels");
      const told = page.getByRole("table", { name: "Open channels by process" });
      const asked = async () => {
        await page.getByRole("button", { name: "Ask the processes" }).press("Enter");
        await settled(page);
        return told.count();
      };
      await expect.poll(asked, { timeout: 30_000 }).toBe(1);
      expect(await told.locator("tbody td").allTextContents()).toEqual([
        expect.stringMatching(/ \d+$/),
        "lobby",
        "1",
        "1",
        "1",
      ]);
      const last = page.getByRole("table", { name: "The last messages" });
      expect((await last.locator("tbody td").allTextContents()).slice(2, 4)).toEqual([query, "said"]);
      expect(await page.content()).not.toContain("secret");
    } finally {
      await running.stop();
    }
  });
}

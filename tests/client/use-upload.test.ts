// @vitest-environment jsdom
/** `useUpload` in a document, against a real service: what a person sees and presses while a file travels. */
import { cleanup, configure, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { createElement as h, useState, version } from "react";
import { afterEach, expect, test } from "vitest";
import { SvcProvider, useUpload } from "../../client/react/src/index.ts";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { apiWith, service } from "../support/service.ts";

const db = database();
const svc = service(db, apiWith(), { storage: { driver: "disk", dir: bytesFolder() } });
configure({ asyncUtilTimeout: 20_000 }); // generous, for a busy machine
afterEach(cleanup);

// Node's fetch does not accept the document's own File.
const { File: NodeFile } = process.getBuiltinModule("node:buffer");
const file = new NodeFile([new Uint8Array(2_000_000)], "long.bin") as unknown as File;

/** A page with a file. `gate` is awaited before each part. */
async function page(onDone?: (id: string, starts: number) => unknown) {
  const control = { gate: async () => {}, pieces: 0 };
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (init?.method === "PATCH") {
      control.pieces++;
      await control.gate();
    }
    init?.signal?.throwIfAborted();
    return globalThis.fetch(input, init);
  };
  const auth = createAuthClient(svc.url, { sessionTokenStorage: "memory" });
  await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  const client = createSvcClient({ api, baseUrl: svc.url, auth, fetch });
  function Page() {
    const [starts, setStarts] = useState(0);
    const upload = useUpload(onDone && { onDone: (id) => onDone(id, starts) });
    const { status, progress, error, id } = upload;
    const [shown] = useState(file);
    const start = () => {
      setStarts(starts + 1);
      upload.start(shown);
    };
    return h(
      "div",
      null,
      h("p", { role: "status" }, [status, Math.floor(progress * 100), id ? "known" : "new", error?.message].join(" ")),
      h("button", { type: "button", onClick: start }, "start"),
      ...(["pause", "resume", "cancel"] as const).map((name) =>
        h("button", { key: name, type: "button", onClick: upload[name] }, name),
      ),
    );
  }
  const shown = render(h(SvcProvider, { apiClient: client }, h(Page)));
  return { ...shown, control };
}
const press = (name: string) => fireEvent.click(screen.getByText(name));
const status = () => screen.getByRole("status").textContent;
const stored = () => db.sql<{ id: string }>("select id from svc.storage_objects");
const unfinished = () => db.sql("select id from svc.storage_uploads");
const forever = () => new Promise<void>(() => {});

test("shows progress until the file is stored, and tells the page its id", async ({ task }) => {
  const told: string[] = [];
  await page((id) => told.push(id));
  expect(status()).toBe("idle 0 new ");
  press("start");
  await waitFor(() => expect(status()).toBe("done 100 known "));
  expect(told).toEqual((await stored()).map(({ id }) => id));
  expect(version.split(".")[0]).toBe(task.file.projectName === "react-18" ? "18" : "19");
});

// It got the state before the click: a list noted the file for another row than the one whose file was chosen.
test("tells the page its id with the state that was set beside `start`", async () => {
  const told: number[] = [];
  await page((_, starts) => told.push(starts));
  press("start");
  await waitFor(() => expect(status()).toBe("done 100 known "));
  expect(told).toEqual([1]);
});

test("pauses, and goes on with what is missing", async () => {
  const before = (await stored()).length;
  const { control } = await page();
  control.gate = async () => {
    if (control.pieces > 2) await forever();
  };
  press("start");
  await waitFor(() => expect(control.pieces).toBe(3));
  press("pause");
  await waitFor(() => expect(status()).toMatch(/^paused [1-9]\d known/));
  control.gate = async () => {};
  press("resume");
  await waitFor(() => expect(status()).toBe("done 100 known "));
  expect((await stored()).length).toBe(before + 1);
});

test("cancelled, is gone at the service too", async () => {
  const before = (await stored()).length;
  const { control } = await page();
  control.gate = async () => {
    if (control.pieces > 1) await forever();
  };
  press("start");
  await waitFor(() => expect(control.pieces).toBe(2));
  expect(await unfinished()).toHaveLength(1);
  press("cancel");
  await waitFor(async () => expect(await unfinished()).toEqual([]));
  expect(status()).toBe("idle 0 new ");
  expect((await stored()).length).toBe(before);
});

test("says why it failed, and tries again when it is told to", async () => {
  let isWilling = false;
  await page(() => {
    if (!isWilling) throw new Error("no such task");
  });
  press("start");
  await waitFor(() => expect(status()).toBe("failed 100 known no such task"));
  isWilling = true;
  press("resume");
  await waitFor(() => expect(status()).toBe("done 100 known "));
});

test("begins again when it is told to go on with an upload that the service no longer has", async () => {
  const before = (await stored()).length;
  const { control } = await page();
  control.gate = async () => {
    if (control.pieces > 1) await forever();
  };
  press("start");
  await waitFor(() => expect(control.pieces).toBe(2));
  press("pause");
  await db.sql("delete from svc.storage_uploads");
  control.gate = async () => {};
  press("resume");
  await waitFor(() => expect(status()).toMatch(/^failed \d+ known This upload cannot be continued/));
  press("resume");
  await waitFor(() => expect(status()).toBe("done 100 known "));
  expect((await stored()).length).toBe(before + 1);
});

test("sends no more once its page is left", async () => {
  const { control, unmount } = await page();
  control.gate = async () => {
    if (control.pieces === 1) unmount();
  };
  press("start");
  await waitFor(() => expect(control.pieces).toBe(1));
  await waitFor(async () => expect(await unfinished()).toHaveLength(1));
  expect(control.pieces).toBe(1);
});

// If this file fails, `svc dev` does not serve what the author has saved.
import { cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { watchApplication } from "../../src/cli/watch.ts";
import { applicationFolder } from "../support/application-folder.ts";

test("folders are watched, also those that come later or are replaced, without a file's watch being lost", async () => {
  const folder = await applicationFolder({ "backend/tasks/list.ts": "1" });
  const file = join(folder, "backend/tasks/list.ts");
  const seen: string[] = [];
  const stop = watchApplication(
    { cwd: folder, rootDir: join(folder, "backend"), schema: [join(folder, "backend/schema.ts")] },
    (path) => path.endsWith("ignored.ts"),
    (path) => seen.push(path),
  );
  /** Makes a change, and waits until it was noticed. */
  const noticed = async (path: string, doing: () => Promise<unknown>) => {
    seen.length = 0;
    await doing();
    await expect.poll(() => seen, { message: path }).toContain(path);
  };
  const list = join("backend", "tasks", "list.ts");
  try {
    await noticed(list, () => writeFile(file, "2"));
    await noticed(list, async () => {
      await writeFile(join(folder, "new.txt"), "3");
      await rename(join(folder, "new.txt"), file);
    });
    await noticed(list, () => writeFile(file, "4"));
    await noticed(list, () => writeFile(file, "5"));
    // A folder that is replaced by another one of the same name, as by git checkout.
    await noticed(join("backend", "tasks"), async () => {
      await rename(join(folder, "backend/tasks"), join(folder, "old"));
      await cp(join(folder, "old"), join(folder, "backend/tasks"), { recursive: true });
    });
    await noticed(list, () => writeFile(file, "6"));
    await noticed("migrations", () => mkdir(join(folder, "migrations")));
    await noticed(join("migrations", "0001.sql"), () => writeFile(join(folder, "migrations/0001.sql"), "select 1;"));
    await noticed(".env", async () => {
      await writeFile(join(folder, "backend/ignored.ts"), "");
      await writeFile(join(folder, "README.md"), "");
      await writeFile(join(folder, ".env"), "A=1");
    });
    expect(seen).toEqual([".env"]);
  } finally {
    stop();
    await rm(folder, { recursive: true });
  }
});

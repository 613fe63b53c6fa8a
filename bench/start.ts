/** How long a start takes: the first one, which makes the cluster and migrates, and a warm one. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { median } from "./measure.ts";
import { contestant } from "./process.ts";

const root = resolve(import.meta.dirname, "..");

export async function run(): Promise<void> {
  // Beside the real one, so that imports of @svc/core resolve; without its state.
  const folder = mkdtempSync(join(root, "examples/.bench-"));
  cpSync(join(root, "examples/desk"), folder, { recursive: true, filter: (path) => !path.includes(".svc") });
  const start = async () => {
    const service = await contestant([join(root, "src/cli/svc.ts"), "start", "--cwd", folder], { PORT: "0" });
    await service.stop();
    return service.readyMs;
  };
  try {
    console.info(`\nsvc start, first:  ${((await start()) / 1000).toFixed(2)} s`);
    const warm = [await start(), await start(), await start()];
    console.info(`svc start, warm:   ${(median(warm) / 1000).toFixed(2)} s`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

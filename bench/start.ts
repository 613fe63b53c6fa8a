/**
 * What the first hour costs: the installed packages, the first start, which makes the cluster and migrates, a warm one,
 * the memory of an idle service, and the time from saving a file to the answer of the new code (`dev.ts`).
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { run as saveToAnswer } from "./dev.ts";
import { median } from "./measure.ts";
import { contestant } from "./process.ts";

const root = resolve(import.meta.dirname, "..");

export async function run(): Promise<void> {
  printInstallation();
  // Beside the real one, so that imports of @svc/core resolve; without its state.
  const folder = mkdtempSync(join(root, "examples/.bench-"));
  cpSync(join(root, "examples/desk"), folder, { recursive: true, filter: (path) => !path.includes(".svc") });
  // From the first module on, as for the packed product, whose modules are JavaScript: Node needs no compiler for them.
  const env = { PORT: "0", NODE_COMPILE_CACHE: join(folder, ".compile-cache") };
  const start = async () => {
    const service = await contestant([join(root, "src/cli/svc.ts"), "start", "--cwd", folder], env);
    await sleep(3_000); // it returns memory a second after its start
    const memory = service.memory();
    await service.stop();
    return { ms: service.readyMs, memory };
  };
  try {
    const first = await start();
    console.info(`\nsvc start, first:  ${(first.ms / 1000).toFixed(2)} s`);
    const warm = [await start(), await start(), await start()];
    console.info(`svc start, warm:   ${(median(warm.map(({ ms }) => ms)) / 1000).toFixed(2)} s`);
    console.info(`memory, idle:      ${median(warm.map(({ memory }) => memory)).toFixed(0)} MiB, with its worker`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  await saveToAnswer();
}

/** `npm install --omit=dev` of the packed @svc/core in an empty folder, as a Dockerfile does. */
function printInstallation(): void {
  const folder = mkdtempSync(join(tmpdir(), "svc-size-"));
  try {
    const packed = join(folder, "packages");
    execFileSync(process.execPath, [join(root, "scripts/pack.ts"), packed], { stdio: "ignore" });
    const [archive = ""] = readdirSync(packed).filter((name) => /^svc-core-.*\.tgz$/.test(name));
    const app = join(folder, "app");
    mkdirSync(app);
    writeFileSync(join(app, "package.json"), "{}");
    const started = performance.now();
    execFileSync("npm", ["install", "--omit=dev", "--no-audit", "--no-fund", join(packed, archive)], {
      cwd: app,
      stdio: "ignore",
    });
    const seconds = (performance.now() - started) / 1000;
    const size = Number.parseInt(execFileSync("du", ["-sm", join(app, "node_modules")], { encoding: "utf8" }), 10);
    const lock = JSON.parse(readFileSync(join(app, "node_modules/.package-lock.json"), "utf8"));
    const packages = Object.keys(lock.packages).length;
    console.info(`\n@svc/core installed: ${size} MB, ${packages} packages, ${seconds.toFixed(0)} s`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

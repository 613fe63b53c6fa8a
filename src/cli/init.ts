/** `svc init`: creates an application from the starter, with its own Node. It must also run on Node 20. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { defineCommand } from "./define.ts";
import { platformRoot } from "./platform.ts";
import { version } from "./version.ts";

export const initCommand = defineCommand({
  meta: { name: "init", description: "Make a new application from the starter." },
  args: {
    folder: {
      type: "positional",
      description: "Where to make it; its last part is the name. (Default: it asks)",
      required: false,
    },
    install: {
      type: "boolean",
      description: "Leave its packages to `npm install`.",
      default: true,
    },
    packages: {
      type: "string",
      description: "A folder with svc's packages as .tgz, to take them from. (Default: the registry's)",
    },
  },
  run: async ({ args }) => {
    try {
      await init(args.folder ?? (await askForFolder()), args);
    } catch (error) {
      if (!(error instanceof InitError)) throw error;
      say(`\n${error.message}`);
      process.exitCode = 1;
    }
  },
});

class InitError extends Error {}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function askForFolder(): Promise<string> {
  if (!process.stdin.isTTY) throw new InitError("Say where: svc init my-app");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question("Where shall the application be made? (my-app) ");
  terminal.close();
  return answer.trim() || "my-app";
}

async function init(where: string, options: { install: boolean; packages?: string | undefined }): Promise<void> {
  const folder = resolve(where);
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "");
  if (!name) throw new InitError(`"${where}" gives no name for a package. Use letters and digits, as in my-app.`);
  if (existsSync(folder) && (await readdir(folder)).length > 0) {
    throw new InitError(`${folder} is not empty.\n  Choose another folder, or empty this one.`);
  }

  await mkdir(folder, { recursive: true });
  await cp(starter(), folder, { recursive: true, filter: (path) => !/[\\/](node_modules|\.svc|dist)$/.test(path) });
  // npm excludes files named .gitignore from packages.
  await rename(join(folder, "gitignore"), join(folder, ".gitignore"));
  await adaptManifest(join(folder, "package.json"), name, options.packages && resolve(options.packages));
  say(`Made ${folder}`);

  if (options.install) await install(folder);
  const steps = [
    `cd ${relative(process.cwd(), folder) || "."}`,
    ...(options.install ? [] : ["npm install"]),
    "npm run dev",
  ];
  say(`\nNow:\n${steps.map((step) => `  ${step}`).join("\n")}\n`);
}

/** In the repository the starter is one of the examples. */
function starter(): string {
  const published = join(platformRoot, "starter");
  return existsSync(published) ? published : join(platformRoot, "examples/starter");
}

interface Manifest {
  name: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  /** Packages whose install scripts npm may run. */
  allowScripts?: Record<string, boolean>;
}

async function adaptManifest(file: string, name: string, packages: string | undefined): Promise<void> {
  const manifest = JSON.parse(await readFile(file, "utf8")) as Manifest;
  manifest.name = name;
  manifest.allowScripts = { node: true }; // it fetches the application's own Node
  for (const own of ["core", "client", "dev", "testing"]) {
    const archive = packages && join(packages, `svc-${own}-${version}.tgz`);
    if (archive && !existsSync(archive)) throw new InitError(`There is no ${archive}.`);
    const list = ["dev", "testing"].includes(own) ? manifest.devDependencies : manifest.dependencies;
    list[`@svc/${own}`] = archive ? `file:${archive}` : `^${version}`;
  }
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

async function install(folder: string): Promise<void> {
  say("Installing its packages (npm install); the first time it takes a minute or so");
  const npm = spawn("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  const code = await new Promise<number | null>((done) => {
    npm.once("error", () => done(null));
    npm.once("exit", done);
  });
  if (code === 0) return;
  throw new InitError(
    `npm could not install the packages; its message is above.\n  The files are there: cd ${folder}, then npm install.`,
  );
}

/**
 * `svc init`: creates an application from the starter, with its own Node. It must also run on Node 20. A template is
 * the starter without some files, with those of its layers, which are folders of `templates/`.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, delimiter, join, relative, resolve } from "node:path";
import { makeFolder } from "../kit/make-folder.ts";
import { ask } from "./ask.ts";
import { defineCommand } from "./define.ts";
import { flag, optionalWord, text } from "./options.ts";
import { conclude, printError, say } from "./output.ts";
import { platformRoot, version } from "./platform.ts";

const templates: Readonly<Record<string, Record<"layers" | "without", readonly string[]>>> = {
  plain: { layers: [], without: [] },
  react: { layers: ["react"], without: ["web/main.ts"] },
  next: {
    layers: ["react", "next"],
    without: [
      ...["web/index.html", "web/main.ts", "web/main.tsx", "web/vite-env.d.ts", "vite.config.ts"],
      // They put the page that Vite has built beside the service.
      ...["Dockerfile", ".dockerignore"],
    ],
  },
};

export const command = defineCommand({
  anywhere: true,
  args: {
    folder: optionalWord("Where to make it; its last part is the name. (Default: it asks)"),
    template: text(`What the page is made with: ${Object.keys(templates).join(", ")}.`, { default: "plain" }),
    install: flag("Leave its packages to `npm install`.", { default: true }),
    packages: text(
      "A folder with svc's packages as .tgz, to take them from. (Default: the registry's; in a clone of svc, what npm run pack has made)",
    ),
  },
  run: async (args) => {
    try {
      await init(args.folder ?? (await askForFolder()), args);
    } catch (error) {
      if (!(error instanceof InitError)) throw error;
      printError(error.message);
    }
  },
});

class InitError extends Error {}

async function askForFolder(): Promise<string> {
  if (!process.stdin.isTTY) throw new InitError("Say where: svc init my-app");
  const answer = await ask("Where shall the application be made? (my-app) ");
  if (answer === null) throw new InitError("Nothing was made.");
  return answer.trim() || "my-app";
}

async function init(
  where: string,
  options: { template: string; install: boolean; packages?: string | undefined },
): Promise<void> {
  const template = Object.hasOwn(templates, options.template) ? templates[options.template] : undefined;
  if (!template) {
    throw new InitError(
      `There is no template "${options.template}".\n  There are: ${Object.keys(templates).join(", ")}.`,
    );
  }
  const folder = resolve(where);
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "");
  if (!name) throw new InitError(`"${where}" gives no name for a package. Use letters and digits, as in my-app.`);
  if (existsSync(folder) && (await readdir(folder)).length > 0) {
    throw new InitError(`${folder} is not empty.\n  Choose another folder, or empty this one.`);
  }

  const packages = options.packages ? resolve(options.packages) : ownPackages();
  if (!packages && options.install && isRepository) {
    throw new InitError("svc's packages are not on npm's registry yet.\n  Build them first: npm run pack");
  }

  await makeFolder(folder);
  const isCopied = (path: string) => !/[\\/](node_modules|\.svc|dist|templates)$/.test(path);
  await cp(starter(), folder, { recursive: true, filter: isCopied });
  for (const layer of template.layers) await addLayer(join(starter(), "templates", layer), folder);
  for (const file of template.without) await rm(join(folder, file));
  // npm excludes files named .gitignore from packages.
  await rename(join(folder, "gitignore"), join(folder, ".gitignore"));
  await adaptManifest(join(folder, "package.json"), name, packages);
  say(`Made ${folder}`);

  if (options.install) await install(folder);
  const steps = [
    `cd ${quoted(relative(process.cwd(), folder) || ".")}`,
    ...(options.install ? [] : ["npm install"]),
    "npm run dev",
  ];
  conclude(
    { folder, name, template: options.template, next: steps },
    `\nNow:\n${steps.map((step) => `  ${step}`).join("\n")}\n`,
  );
}

/** As a shell reads one word. */
const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

/** In the repository the starter is one of the examples, and `npm run pack` builds the packages. */
const isRepository = !existsSync(join(platformRoot, "starter"));

const starter = () => join(platformRoot, isRepository ? "examples/starter" : "starter");

function ownPackages(): string | undefined {
  const packed = join(platformRoot, ".svc/packages");
  return isRepository && existsSync(packed) ? packed : undefined;
}

/** Adds the files of a layer. Its package.json holds changes: null removes a member. */
async function addLayer(layer: string, folder: string): Promise<void> {
  const manifest = join(folder, "package.json");
  const before = JSON.parse(await readFile(manifest, "utf8"));
  await cp(layer, folder, { recursive: true });
  const changes = JSON.parse(await readFile(join(layer, "package.json"), "utf8"));
  await writeFile(manifest, JSON.stringify(patched(before, changes)));
}

type Json = { [key: string]: Json } | string | boolean | null;

/** As RFC 7396 (JSON Merge Patch) says, with sorted keys below the first level. */
function patched(target: Json | undefined, changes: Json, depth = 0): Json {
  if (typeof changes !== "object" || changes === null) return changes;
  const before = typeof target === "object" && target !== null ? target : {};
  const members = Object.entries({ ...before, ...changes })
    .filter(([key]) => changes[key] !== null)
    .map(([key, value]) => [key, key in changes ? patched(before[key], value, depth + 1) : value] as const);
  return Object.fromEntries(depth > 0 ? members.toSorted(([a], [b]) => (a < b ? -1 : 1)) : members);
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
  if (hasNode24()) delete manifest.devDependencies.node;
  else manifest.allowScripts = { node: true }; // it fetches the application's own Node
  for (const list of [manifest.dependencies, manifest.devDependencies]) {
    for (const own of Object.keys(list).filter((one) => one.startsWith("@svc/"))) {
      const archive = packages && join(packages, `${own.slice(1).replace("/", "-")}-${version}.tgz`);
      if (archive && !existsSync(archive)) throw new InitError(`There is no ${archive}.`);
      list[own] = archive ? `file:${archive}` : `^${version}`;
    }
  }
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Whether a shell in the new folder finds Node 24. The PATH of `npx` begins with the programs of the packages here. */
function hasNode24(): boolean {
  const path = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((one) => !/node_modules[\\/]\.bin$|node-gyp-bin$/.test(one));
  try {
    const version = execFileSync("node", ["-v"], { encoding: "utf8", env: { PATH: path.join(delimiter) } });
    return version.startsWith("v24.");
  } catch {
    return false;
  }
}

async function install(folder: string): Promise<void> {
  say("Installing its packages (npm install); the first time it takes a minute or so");
  const npm = spawn("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: ["ignore", process.stderr, "inherit"],
    shell: process.platform === "win32",
  });
  const code = await new Promise<number | null>((done) => {
    npm.once("error", () => done(null));
    npm.once("exit", done);
  });
  if (code === 0) return removeHeaders(folder);
  throw new InitError(
    `npm could not install the packages; its message is above.\n  The files are there: cd ${folder}, then npm install.`,
  );
}

/** The package `node` brings 67 MB of headers for compiling add-ons in C. No package of the application has one. */
async function removeHeaders(folder: string): Promise<void> {
  const packages = join(folder, "node_modules/node/node_modules");
  const names = existsSync(packages) ? await readdir(packages) : [];
  for (const name of names.filter((one) => one.startsWith("node-"))) {
    await rm(join(packages, name, "include"), { recursive: true, force: true });
  }
}

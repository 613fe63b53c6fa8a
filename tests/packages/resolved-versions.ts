/** Compares the versions that npm installed for an application with those that the repository's tests use. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../support/global-setup.ts";

interface Locked {
  version?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}
type Packages = Record<string, Locked>;

/** Packages whose internals we rely on, at any position in the tree. */
const critical = ["node_modules/pg-pool", "node_modules/pg-protocol", "node_modules/@better-auth/core"];

const read = async (folder: string): Promise<Packages> =>
  JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8")).packages;

/** The package that Node resolves for one at `place`. */
function resolve(packages: Packages, place: string, name: string): Locked | undefined {
  for (let folder = place; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("node_modules/") - 1))) {
    const found = packages[`${folder ? `${folder}/` : ""}node_modules/${name}`];
    if (found || folder === "") return found;
  }
}

/** Where npm puts the copies of a package. */
export const placesOf = async (name: string, app: string): Promise<string[]> =>
  Object.keys(await read(app)).filter((place) => place.endsWith(`node_modules/${name}`));

/** @returns a line for each package that the application has in another version, or lacks */
export async function otherVersions(app: string): Promise<string[]> {
  const [ours, theirs] = [await read(root), await read(app)];
  const wrong: string[] = [];
  const compare = (what: string, tested: string | undefined, got: string | undefined) => {
    if (tested !== got) wrong.push(`${what}: tested with ${tested}, an application gets ${got}`);
  };
  for (const own of ["core", "client", "dev", "testing"]) {
    const place = `node_modules/@svc/${own}`;
    const { dependencies = {}, optionalDependencies = {} } = theirs[place] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (name.startsWith("@svc/")) continue;
      const tested = ours[`node_modules/${name}`]?.version;
      compare(`${name} of @svc/${own}`, tested, resolve(theirs, place, name)?.version);
    }
  }
  for (const place of critical) compare(place, ours[place]?.version, theirs[place]?.version);
  return wrong;
}

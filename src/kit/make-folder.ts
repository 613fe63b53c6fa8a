/**
 * Makes a folder and its parents, as `mkdir` with `recursive` does. Node's own never ends below /proc and the like: there
 * the system answers in turn that a parent is missing, and that it exists.
 */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** In which the parent exists. Others may make and remove it meanwhile. */
const attempts = 5;

/**
 * @param path absolute
 * @param mode of every folder that is made
 * @returns the first folder that was made; undefined if `path` existed
 * @throws the system's error; one with the code ENOTSUP where the file system takes no folders
 */
export async function makeFolder(path: string, mode?: number): Promise<string | undefined> {
  let first: string | undefined;
  for (let attempt = 1; ; ) {
    try {
      await mkdir(path, { mode });
      return first ?? path;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EEXIST" && (await stat(path)).isDirectory()) return first;
      if (code !== "ENOENT") throw error;
      const made = await makeFolder(dirname(path), mode);
      if (made === undefined && attempt++ === attempts) throw takesNone(path, error);
      first ??= made;
    }
  }
}

const takesNone = (path: string, cause: unknown) =>
  Object.assign(new Error(`ENOTSUP: the file system takes no folders, mkdir '${path}'`, { cause }), {
    code: "ENOTSUP",
    path,
  });

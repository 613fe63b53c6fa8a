/**
 * Decides the server's folders and its user. Server programs refuse root, and the user that they run as instead may not
 * enter root's directories. So root uses /var/lib/svc, and other users a folder beside the application.
 */
import { createHash } from "node:crypto";
import { accessSync, chmodSync, constants, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ClusterError } from "./error.ts";
import { run } from "./run.ts";

const systemState = "/var/lib/svc";

export interface ServerUser {
  uid: number;
  gid: number;
}

/** The folder of the cluster `name`, for the application state in `directory`. Created if missing. */
export function clusterDirectory(directory: string, name: string): string {
  if (!runsAsRoot()) return made(join(resolve(directory), name), 0o700);
  mkdirSync(directory, { recursive: true });
  return made(join(made(join(made(systemState), hashed(directory))), name));
}

/** The folder of server programs and extensions: one per project, shared by its clusters. Created if missing. */
export function treeDirectory(directory: string): string {
  const root = projectRoot();
  if (runsAsRoot()) return made(join(made(join(made(systemState), hashed(root))), "tree"));
  return made(join(isWritable(root) ? join(root, ".svc") : resolve(directory), "tree"));
}

/** The project that svc is installed in; in svc's own repository, that repository. */
function projectRoot(): string {
  const here = import.meta.dirname;
  const installed = here.indexOf(`${"/"}node_modules/`);
  if (installed > 0) return here.slice(0, installed);
  return resolve(here, "../..");
}

const runsAsRoot = (): boolean => process.getuid?.() === 0;

/**
 * The user that server programs run as; null means the current one.
 *
 * @param data the data directory: if it exists its owner decides, since the server accepts no other user
 */
export async function serverUser(data: string): Promise<ServerUser | null> {
  if (!runsAsRoot()) return null;
  try {
    const { uid, gid } = statSync(data);
    return { uid, gid };
  } catch {
    // No data directory yet.
  }
  for (const name of ["postgres", "nobody"]) {
    const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
    if (uid.ok && gid.ok) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new ClusterError(
    "PostgreSQL refuses to run as root, and there is neither a user `postgres` nor `nobody` to run it as.",
    "Create one (`useradd --system postgres`), run svc as an ordinary user, or set DATABASE_URL.",
  );
}

const hashed = (path: string): string => createHash("sha256").update(realpathSync(path)).digest("hex").slice(0, 12);

/** Creates a folder. Others may pass through it (x) but not list it; its files have their own modes. */
function made(path: string, mode = 0o711): string {
  try {
    if (mkdirSync(path, { recursive: true })) chmodSync(path, mode); // the umask restricts mkdir's mode
  } catch (error) {
    throw new ClusterError(
      `svc cannot create ${path} for its PostgreSQL: ${(error as Error).message}.`,
      `Make ${dirname(path)} writable, or set DATABASE_URL to use a server of your own.`,
      { cause: error },
    );
  }
  return path;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Fetches packages from the machine's own Debian or Ubuntu mirror with a private apt configuration, which any user may
 * use. The system's package lists stay unchanged. Packages are unpacked and read, never installed.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunResult, run } from "./run.ts";

/** The problem, as a clause, and its remedy, as a sentence. */
export interface Obstacle {
  problem: string;
  remedy: string;
}

/** Releases that lack pgvector 0.7, and the next release on the same mirror that has it. */
const laterReleases: Record<string, string> = {
  bullseye: "trixie",
  bookworm: "trixie",
  jammy: "resolute",
  noble: "resolute",
};

/** The distribution's package mirror, and the key that signs it. */
interface Mirror {
  uri: string;
  release: string;
  /** The Signed-By field of the machine's own sources; null for the global keyring. */
  signedBy: string | null;
}

/** @returns the directory of pgvector's unpacked source package */
export async function fetchVectorSource(work: string): Promise<string | Obstacle> {
  const mirror = await findMirror();
  if (!mirror) {
    return {
      problem: "its sources come from a Debian or Ubuntu mirror, and none is configured",
      remedy: "Install the pgvector package of your system (macOS: `brew install postgresql@17 pgvector`).",
    };
  }
  const apt = await privateApt(work, "deb-src", mirror, laterRelease(mirror));
  if ("problem" in apt) return apt;
  const got = await apt.get("source", "--download-only", "pgvector");
  const archive = readdirSync(apt.directory).find((name) => /^pgvector_.*\.orig\.tar\.\w+$/.test(name));
  if (!got.ok || !archive) return unreachable("its source package could not be fetched", got);

  const source = join(work, "pgvector");
  mkdirSync(source);
  const unpacked = await run("tar", ["-xf", join(apt.directory, archive), "-C", source, "--strip-components=1"]);
  return unpacked.ok ? source : unreachable("its source package could not be unpacked", unpacked);
}

/**
 * The server headers of a major version.
 *
 * @param later the version belongs to a later release, rather than to this machine's
 * @returns the directory to compile with
 */
export async function fetchHeaders(work: string, major: number, later: boolean): Promise<string | Obstacle> {
  const name = `postgresql-server-dev-${major}`;
  const mirror = await findMirror();
  // The machine's own lists include all its sources, also apt.postgresql.org. But they may be empty or stale.
  let last = later ? null : await download(systemApt(work), name, work);
  if (typeof last === "string") return last;
  if (mirror) {
    const releases = new Set([mirror.release, laterRelease(mirror)]);
    for (const release of later ? [...releases].reverse() : releases) {
      const apt = await privateApt(work, "deb", mirror, release);
      last = "problem" in apt ? apt : await download(apt, name, work);
      if (typeof last === "string") return last;
    }
  }
  return last ?? unreachable(`${name} could not be fetched`, { stderr: "no mirror" });
}

interface Apt {
  /** The folder of its downloads. */
  directory: string;
  get(...args: string[]): Promise<RunResult>;
}

async function download(apt: Apt, name: string, work: string): Promise<string | Obstacle> {
  const got = await apt.get("download", name);
  const archive = readdirSync(apt.directory).find((file) => file.startsWith(`${name}_`));
  if (!got.ok || !archive) return unreachable(`the headers in ${name} could not be fetched`, got);
  const target = join(work, "headers");
  const unpacked = await run("dpkg", ["-x", join(apt.directory, archive), target]);
  if (!unpacked.ok) return unreachable(`${name} could not be unpacked`, unpacked);
  return join(target, "usr/include/postgresql", name.slice(name.lastIndexOf("-") + 1), "server");
}

function systemApt(work: string): Apt {
  const directory = join(work, "system");
  mkdirSync(directory, { recursive: true });
  return { directory, get: (...args) => runApt(args, directory) };
}

/** An apt configuration for one release of the mirror, with its own lists and caches. */
async function privateApt(
  work: string,
  type: "deb" | "deb-src",
  mirror: Mirror,
  release: string,
): Promise<Apt | Obstacle> {
  const root = join(work, `${type}-${release}`);
  const directory = join(root, "downloads");
  for (const name of ["sources", "state", "cache", "downloads"]) mkdirSync(join(root, name), { recursive: true });
  const sources = [
    `Types: ${type}`,
    `URIs: ${mirror.uri}`,
    `Suites: ${release}`,
    `Components: ${mirror.uri.includes("ubuntu") ? "main universe" : "main"}`,
    `Targets: ${type === "deb" ? "Packages" : "Sources"}`, // no translations, no icons
    ...(mirror.signedBy ? [`Signed-By: ${mirror.signedBy}`] : []),
  ];
  writeFileSync(join(root, "sources/svc.sources"), `${sources.join("\n")}\n`);
  const options = {
    "Dir::Etc::sourcelist": "/dev/null",
    "Dir::Etc::sourceparts": join(root, "sources"),
    "Dir::State": join(root, "state"),
    "Dir::State::status": "/var/lib/dpkg/status",
    "Dir::Cache": join(root, "cache"),
    "APT::Update::Error-Mode": "any", // by default an unreachable mirror is only a warning
  };
  const settings = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const updated = await runApt([...settings, "update"], root);
  if (!updated.ok) return unreachable(`the package lists of ${release} could not be fetched`, updated);
  return { directory, get: (...args) => runApt([...settings, ...args], directory) };
}

function runApt(args: string[], cwd: string): Promise<RunResult> {
  const patience = ["Acquire::Retries=1", "Acquire::http::Timeout=15", "Acquire::https::Timeout=15"];
  const options = patience.flatMap((setting) => ["-o", setting]);
  return run("apt-get", ["-q", ...options, ...args], { cwd, env: { ...process.env, LC_ALL: "C" } });
}

/** Finds the distribution's own mirror among the machine's sources. */
async function findMirror(): Promise<Mirror | null> {
  const format = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(SOURCESENTRY)";
  const listed = await run("apt-get", ["indextargets", "--format", format, "Created-By: Packages"]);
  const entries = listed.stdout
    .split("\n")
    .map((line) => line.split("|"))
    .filter(([, release, component]) => component === "main" && !release?.includes("-"));
  const codename = releaseName();
  const [uri, release, , entry] =
    entries.find(([candidate = ""]) => /\/(debian|ubuntu|ubuntu-ports)\/?$/.test(candidate)) ??
    entries.find(([, candidate]) => candidate === codename) ??
    [];
  return uri && release ? { uri, release, signedBy: signedByOf(entry ?? "", uri) } : null;
}

const laterRelease = (mirror: Mirror): string => laterReleases[releaseName()] ?? mirror.release;

/** The distribution's release. For a derivative of Ubuntu, the Ubuntu release that it is based on. */
function releaseName(): string {
  const text = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  return /^UBUNTU_CODENAME="?(\w+)/m.exec(text)?.[1] ?? /^VERSION_CODENAME="?(\w+)/m.exec(text)?.[1] ?? "";
}

/** @param entry file and position, as apt names the origin of a source */
function signedByOf(entry: string, uri: string): string | null {
  const file = entry.replace(/:\d+$/, "");
  if (!existsSync(file)) return null;
  const text = readFileSync(file, "utf8");
  const place = uri.replace(/\/$/, "");
  if (file.endsWith(".sources")) {
    const stanza = text.split(/\n\s*\n/).find((part) => part.includes(place)) ?? "";
    // The field may contain a full key, on continuation lines.
    return /^Signed-By:[ \t]*((?:.*)(?:\n[ \t].*)*)/im.exec(stanza)?.[1]?.trimEnd() ?? null;
  }
  const line = text.split("\n").find((part) => /^\s*deb\s/.test(part) && part.includes(place)) ?? "";
  return /\[[^\]]*signed-by=([^\s\]]+)/i.exec(line)?.[1] ?? null;
}

function unreachable(problem: string, result: Pick<RunResult, "stderr">): Obstacle {
  const lines = result.stderr.split("\n").filter(Boolean);
  const said = lines.find((line) => /^(E|Err):?/.test(line)) ?? lines.at(-1) ?? "no message";
  return {
    problem: `${problem} (${said.replace(/^E: /, "").trim()})`,
    remedy: "Run scripts/setup again when the package mirror can be reached.",
  };
}

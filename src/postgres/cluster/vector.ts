import type { Programs, ResolveOptions } from "./binaries.ts";
import { installedVector } from "./installed.ts";

export async function provideVector(programs: Programs, _options: ResolveOptions) {
  return { vector: await installedVector(programs.binDir), vectorNote: "TODO", settings: {} as Record<string, string> };
}

/** The modules of the backend from which `api.ts` takes types. */
import { basename } from "node:path";
import { unusedName } from "../kit/written-names.ts";
import { importPath } from "./db-module.ts";
import type { Exported } from "./exported.ts";

export class Modules {
  readonly #folder: string;
  readonly #names = new Map<string, string>();
  readonly #used = new Set<string>();

  /** @param folder of the generated file, absolute */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The type of an export, such as `typeof notesModule.notesCrud.list`. */
  typeOf({ file, path }: Exported): string {
    const name = this.#names.get(file) ?? unusedName(moduleName(file), this.#used);
    this.#names.set(file, name);
    return `typeof ${[name, ...path].join(".")}`;
  }

  /** In the order of formatters. @param others what the file imports besides: a file, absolute, and the clause of its import */
  imports(others: readonly (readonly [file: string, clause: string])[]): string[] {
    return [...others, ...[...this.#names].map(([file, name]) => [file, `* as ${name}`] as const)]
      .map(([file, name]) => [importPath(this.#folder, file), name] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([path, name]) => `import type ${name} from ${JSON.stringify(path)};`);
  }
}

/** Of `note-lines.ts`: noteLinesModule, which is neither a word of the language nor another name of the file. */
const moduleName = (file: string) =>
  `${basename(file)
    .replace(/\.\w+$/, "")
    .replaceAll(/[^A-Za-z0-9]+(.?)/g, (_, letter: string) => letter.toUpperCase())
    .replace(/^(?=\d|$)/, "_")}Module`;

/**
 * The part of `api.ts` for generated CRUD: the columns that are not plain JSON, and an interface for each resource. The
 * types of `include`, `select` and filters through relations follow from the interfaces.
 * Next hop: `client/sdk/src/related.ts`.
 */
import type { CrudDefinition } from "../contract/crud.ts";
import { visibleColumns } from "../crud/crud-definition.ts";
import { keyOf, unusedName } from "../kit/written-names.ts";

const reading = ["list", "get"] as const;
const withoutRows = ["aggregate", "history", "deliveries", "retryDelivery"] as const;

export class Resources {
  readonly #resources: readonly CrudDefinition[];
  readonly #typeOf: (name: string) => string | undefined;
  readonly #names = new Map<CrudDefinition, string>();
  /** By the name of each operation: the definition in a procedure is another object than the registered one (`src/app/api.ts`). */
  readonly #operations = new Map<string, CrudDefinition>();

  /** @param typeOf the type of a procedure of the backend; undefined for one that its type does not have */
  constructor(resources: readonly CrudDefinition[], typeOf: (name: string) => string | undefined) {
    this.#resources = resources;
    this.#typeOf = typeOf;
    const used = new Set<string>();
    for (const crud of resources) {
      for (const method of crud.methods) this.#operations.set(`${crud.prefix}.${method}`, crud);
      if (this.#source(crud) === undefined) continue;
      this.#names.set(crud, unusedName(typeName(crud), used));
    }
  }

  /** The interface of the resource that a list or get reads. */
  readBy(name: string): string | undefined {
    const crud = this.#operations.get(name);
    return crud && reading.some((method) => name === `${crud.prefix}.${method}`) ? this.#names.get(crud) : undefined;
  }

  /** The interface of the resource that an aggregate measures. */
  measuredBy(name: string): string | undefined {
    const crud = this.#operations.get(name);
    return crud?.aggregate && name === `${crud.prefix}.aggregate` ? this.#names.get(crud) : undefined;
  }

  /** The constant with the columns of a resource, for its operations; undefined where there is none, or no rows are returned. */
  columnsOf(name: string): string | undefined {
    const crud = this.#operations.get(name);
    const isOfRows = crud && !withoutRows.some((method) => name === `${crud.prefix}.${method}`);
    return isOfRows && needsConversions(crud) ? constantName(crud) : undefined;
  }

  /** Declarations of the columns whose values are not plain JSON in the application. */
  constants(): string[] {
    return this.#resources.filter((crud) => needsConversions(crud)).map(columnsConstant);
  }

  interfaces(): string[] {
    return [...this.#names].map(([crud, name]) => {
      const source = this.#source(crud);
      const relations = [...crud.relations].flatMap(([relation, { many, target }]) => {
        const targetName = this.#names.get(target);
        return targetName ? [`    ${relation}: ${many ? "Many" : "One"}<${targetName}>;`] : [];
      });
      return [
        `interface ${name} {`,
        `  row: RowIn<${source}>;`,
        `  filters: ${crud.methods.includes("list") ? `FiltersOf<${source}>` : "object"};`,
        ...(relations.length > 0 ? ["  relations: {", ...relations, "  };"] : ["  relations: Record<never, never>;"]),
        "}",
      ].join("\n");
    });
  }

  /** The type of the procedure that shows a resource's rows. */
  #source(crud: CrudDefinition): string | undefined {
    const method = reading.find((one) => crud.methods.includes(one));
    return method && this.#typeOf(`${crud.prefix}.${method}`);
  }
}

/** Such as `InvoiceLinesResource` for `invoice_lines`. */
const typeName = ({ prefix }: CrudDefinition) =>
  `${prefix.replaceAll(/(?:^[\W_]*|[\W_]+)([^\W_]?)/g, (_, letter: string) => letter.toUpperCase())}Resource`;

const constantName = ({ prefix }: CrudDefinition) => `${prefix}Columns`;

/** Whether rows have values that are not plain JSON, or may include such rows. */
function needsConversions(crud: CrudDefinition, seen = new Set<CrudDefinition>()): boolean {
  if (seen.has(crud)) return false;
  seen.add(crud);
  const own = visibleColumns(crud).some(({ conversion }) => conversion !== null);
  return own || [...crud.relations.values()].some(({ target }) => needsConversions(target, seen));
}

function columnsConstant(crud: CrudDefinition): string {
  const columns = visibleColumns(crud)
    .filter(({ conversion }) => conversion !== null)
    .map(({ property, conversion }) => `${keyOf(property)}: "${conversion}"`);
  // Functions, because relations may lead back.
  const relations = [...crud.relations]
    .filter(([, { target }]) => needsConversions(target))
    .map(([name, { target }]) => `${name}: () => ${constantName(target)}`);
  const [type, end] = relations.length > 0 ? [": Conversions", ""] : ["", " as const"];
  return `const ${constantName(crud)}${type} = {\n  ${[...columns, ...relations].join(",\n  ")},\n}${end};`;
}

/** The paths of exports in the API's description. `src/server/export.ts` answers them. */
import type { CrudDefinition } from "../contract/crud.ts";
import { answers, errors, inQuery, operation, type Part, security, text } from "../kit/parts.ts";
import { type Format, formats, mediaTypes } from "./export-rows.ts";

export const exportPaths = (resources: readonly CrudDefinition[]): Record<string, Part> =>
  Object.fromEntries(
    resources
      .filter(({ transfer, methods }) => transfer.export && methods.includes("list"))
      .flatMap((crud) => formats.map((format) => [`/api/export/${crud.prefix}.${format}`, path(crud, format)])),
  );

const spreadsheet = inQuery(
  "spreadsheet",
  text({ enum: ["true", "false"] }),
  "For a spreadsheet: with a byte order mark, and formulas escaped.",
);

const path = ({ prefix, table, anonymous }: CrudDefinition, format: Format): Part => ({
  get: operation(
    `${prefix}-export-${format}`,
    prefix,
    `Every row of ${table} that the caller may see`,
    security(anonymous),
    {
      parameters: [
        inQuery("filters", text(), "As JSON, those of the list."),
        inQuery("search", text(), "As in the list."),
        inQuery("orderBy", text(), "As in the list."),
        inQuery("orderDir", text({ enum: ["asc", "desc"] }), "As in the list."),
        ...(format === "csv" ? [spreadsheet] : []),
      ],
      responses: {
        200: answers("The rows. An answer that is cut off lacks rows.", {
          [mediaTypes[format].split(";")[0] ?? ""]: { schema: text() },
        }),
        ...errors(400, 401, 404, 504),
      },
    },
  ),
});

// If this file fails, cells of a workbook hold codes in place of line ends and other characters.
import { expect, test } from "vitest";
import { runEngine } from "../../src/documents/engines/run.ts";
import { cell, office, package_, sheets, workbook } from "../support/office.ts";

test.each(["parser_a", "parser_b"] as const)("characters that a workbook escapes are read, by %s", async (engine) => {
  const texts = [
    "Wells_x000D_\nSprings",
    "a _x005F_x0041_ b",
    "Duck _xD83E__xDD86_",
    "1 _x003C_ 2 _x0026_ 3",
    "my_x_y _X0041_",
  ];
  const cells = texts.map((text, column) => cell(`${"ABCDE"[column]}1`, text)).join("");
  const shared = `<sst xmlns="${sheets}"><si><t>Half_x0020_shared</t></si></sst>`;
  const row = `<row r="1">${cells}<c r="F1" t="s" note="_x0022_"><v>0</v></c></row><row r="2">${cell("A2", "below")}</row>`;
  const links = `<Relationships xmlns="${package_}/relationships"><Relationship Id="r1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="${office}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`;
  const parts = { "xl/sharedStrings.xml": shared, "xl/_rels/workbook.xml.rels": links };
  const { markdown, warnings } = await runEngine({ engine, kind: "xlsx" }, await workbook(row, [], parts));
  expect(warnings).toEqual([]);
  const line = markdown
    .replaceAll("\\", "")
    .split("\n")
    .find((one) => one.startsWith("|"));
  expect(line?.split("|").map((one) => one.trim().replace(/ *(<br>|\n) */, "/"))).toEqual([
    ...["", "Wells/Springs", "a _x0041_ b", "Duck \u{1f986}", "1 < 2 & 3", "my_x_y _X0041_", "Half shared", ""],
  ]);
});

/** Malformed multipart bodies for procedures.test.ts; each must be refused with 400. */

/** Fields of `data` that do not fit the form's one file, or its rich types. */
export const brokenMaps: [string, object][] = [
  ["a map to nowhere", { maps: [["args", "none"]] }],
  ["a map through the prototype", { maps: [["args", "__proto__", "x"]] }],
  ["a map that is no path", { maps: [{}] }],
  ["maps that are no list", { maps: 1 }],
  [
    "more maps than files",
    {
      maps: [
        ["args", "files", 0],
        ["args", "at"],
      ],
      meta: [],
    },
  ],
  ["an unknown meta code", { meta: [[8, "args"]] }],
  ["no json", { json: undefined }],
  ["a json without a name", { json: { args: { files: [null] } } }],
];

/** Bodies, with their content types, that are not a form with `data`. */
export const brokenForms: [name: string, body: string, type: string][] = [
  ["no boundary", "--x\r\n\r\n--x--", "multipart/form-data"],
  ["another boundary", "--x\r\n\r\n--x--", "multipart/form-data; boundary=y"],
  [
    "a body that ends early",
    '--x\r\ncontent-disposition: form-data; name="data"\r\n\r\n{',
    "multipart/form-data; boundary=x",
  ],
  ["no data", "--x--\r\n", "multipart/form-data; boundary=x"],
  ["no body", "", "multipart/form-data; boundary=x"],
];

/**
 * Writes the formulas of a DOCX as LaTeX into its text, in their place. Parsers drop them, or put them at the end of their
 * paragraph. https://learn.microsoft.com/en-us/dotnet/api/documentformat.openxml.math
 */
import type { Element } from "@xmldom/xmldom";
import { markFormula } from "./docx-marks.ts";
import { childrenOf, parseLoosely } from "./xml-parts.ts";

const displayed = /<m:oMathPara(?:\s[^>]*)?>[\s\S]*?<\/m:oMathPara>/g;
const inline = /<m:oMath(?:\s[^>]*)?>[\s\S]*?<\/m:oMath>/g;
const space = 'xmlns:m="m" xmlns:w="w" xmlns:a="a" xmlns:r="r" xmlns:mc="mc" xmlns:w14="w14" xmlns:wp="wp"';

/** @param xml of a part with text */
export function markFormulas(xml: string): string {
  if (!xml.includes("<m:oMath")) return xml;
  const write = (sign: string) => (math: string) => {
    const latex = latexOf(math);
    return latex === ""
      ? ""
      : `<w:r><w:t xml:space="preserve">${markFormula(escaped(`${sign}${latex}${sign}`))}</w:t></w:r>`;
  };
  return xml.replace(displayed, write("$$")).replace(inline, write("$"));
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** @returns "" for what is no XML of its own */
function latexOf(math: string): string {
  try {
    const root = parseLoosely(`<m:x ${space}>${math}</m:x>`);
    return root ? write(root).replace(/\s+/g, " ").trim() : "";
  } catch {
    return "";
  }
}

const operators: Record<string, string> = {
  "∑": "\\sum",
  "∏": "\\prod",
  "∐": "\\coprod",
  "∫": "\\int",
  "∬": "\\iint",
  "∭": "\\iiint",
  "∮": "\\oint",
  "∯": "\\oiint",
  "∰": "\\oiiint",
  "⋃": "\\bigcup",
  "⋂": "\\bigcap",
  "⋁": "\\bigvee",
  "⋀": "\\bigwedge",
};
const accents: Record<string, string> = {
  "\u0300": "\\grave",
  "\u0301": "\\acute",
  "\u0303": "\\tilde",
  "\u0304": "\\bar",
  "\u0305": "\\overline",
  "\u0307": "\\dot",
  "\u0308": "\\ddot",
  "\u20d7": "\\vec",
};
const functions =
  /^(sin|cos|tan|cot|sec|csc|sinh|cosh|tanh|arcsin|arccos|arctan|log|ln|lg|exp|lim|max|min|sup|inf|det|gcd)$/;

function write(node: Element): string {
  const children = childrenOf(node);
  const all = (name: string) => children.filter((child) => child.localName === name);
  const part = (name: string) => all(name).map(write).join("");
  const property = (name: string) => {
    const holder = children.find((child) => child.localName?.endsWith("Pr"));
    const found = holder && childrenOf(holder).find((child) => child.localName === name);
    return found ? (found.getAttribute("m:val") ?? "") : undefined;
  };
  const base = () => (part("e").length > 1 ? `{${part("e")}}` : part("e"));
  const low = (name = "sub") => (part(name) === "" ? "" : `_{${part(name)}}`);
  const high = (name = "sup") => (part(name) === "" ? "" : `^{${part(name)}}`);
  switch (node.localName) {
    case "t":
      return node.textContent ?? "";
    case "f":
      return property("type") === "noBar"
        ? `\\genfrac{}{}{0pt}{}{${part("num")}}{${part("den")}}`
        : `\\frac{${part("num")}}{${part("den")}}`;
    case "sSup":
    case "sSub":
    case "sSubSup":
      return `${base()}${low()}${high()}`;
    case "sPre":
      return `{}${low()}${high()}${part("e")}`;
    case "rad":
      return `\\sqrt${part("deg") === "" ? "" : `[${part("deg")}]`}{${part("e")}}`;
    case "nary": {
      const sign = property("chr") ?? "∫";
      return `${operators[sign] ?? sign}${low()}${high()} ${part("e")}`;
    }
    case "d": {
      const [open, close] = [property("begChr") ?? "(", property("endChr") ?? ")"].map(fence);
      return `\\left${open}${all("e")
        .map(write)
        .join(property("sepChr") ?? "|")}\\right${close}`;
    }
    case "m":
      return `\\begin{matrix}${all("mr")
        .map((row) => childrenOf(row).map(write).join(" & "))
        .join(" \\\\ ")}\\end{matrix}`;
    case "eqArr":
      if (all("e").length === 1) return part("e");
      return `\\begin{aligned}${all("e").map(write).join(" \\\\ ")}\\end{aligned}`;
    case "func":
      return `${named(part("fName"))} ${part("e")}`;
    case "limLow":
      return `${named(part("e"))}${low("lim")}`;
    case "limUpp":
      return `${named(part("e"))}${high("lim")}`;
    case "acc":
      return `${accents[property("chr") ?? ""] ?? "\\hat"}{${part("e")}}`;
    case "bar":
      return `${property("pos") === "top" ? "\\overline" : "\\underline"}{${part("e")}}`;
    case "groupChr":
      return `${property("pos") === "top" ? "\\overbrace" : "\\underbrace"}{${part("e")}}`;
    default:
      // Properties have no text of their own.
      return node.localName?.endsWith("Pr") ? "" : children.map(write).join("");
  }
}

const named = (text: string) => (functions.test(text.trim()) ? `\\${text.trim()}` : text);
const fence = (sign: string) => (sign === "" ? "." : /[{}]/.test(sign) ? `\\${sign}` : sign);

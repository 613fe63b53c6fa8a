/** A picture of text, for what reads pictures. Not from SVG: sharp loads none after the service forbade it. */
import sharp, { type Sharp } from "sharp";

/** @returns black text on white, `width` × `height` pixels */
export function drawnText(words: string, width: number, height: number): Sharp {
  const text = { text: `<span foreground="black">${words}</span>`, font: "sans 48", dpi: 96, rgba: true };
  return sharp({ create: { width, height, channels: 3, background: "white" } }).composite([{ input: { text } }]);
}

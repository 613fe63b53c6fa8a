/** If this file fails, uploads in parts to a folder lose bytes, or accept them from another user than the owner. */
import { bytesFolder } from "../support/files.ts";
import { uploadConformance } from "./upload-conformance.ts";

uploadConformance({ driver: "disk", dir: bytesFolder() });

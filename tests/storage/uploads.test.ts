/** If this file fails, uploads in parts to a folder lose bytes, or take them from somebody else than the owner. */
import { bytesFolder } from "../support/files.ts";
import { uploadConformance } from "./upload-conformance.ts";

uploadConformance({ driver: "disk", dir: bytesFolder() });

/** If this file fails, uploads in parts to a bucket lose bytes, or accept them from another user than the owner. */
import { describe } from "vitest";
import { bucket, hasS3Server, s3Server } from "../support/s3-server.ts";
import { uploadConformance } from "./upload-conformance.ts";

describe.skipIf(!hasS3Server)("in a bucket", () => {
  uploadConformance(Object.assign(s3Server(), { driver: "s3" as const, bucket }));
});

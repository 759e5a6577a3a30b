import { createCipheriv, createDecipheriv, createHash, createHmac } from "node:crypto";
import { FlatlineError } from "../base/errors.ts";
import type { ReportsQuery } from "../contract/reports.ts";
import type { ReportPosition } from "../store/platform/listing.ts";

const nonceBytes = 12;
const tagBytes = 16;
const bindingBytes = 16;
const plainBytes = bindingBytes + 16;
const cursorBytes = nonceBytes + plainBytes + tagBytes;

/**
 * Creates and reads the listing's opaque cursors (CONTRACT 9). The store's `secret` (32 bytes) encrypts and
 * authenticates them: they stay valid across restarts.
 */
export function createCursorCodec(secret: Uint8Array) {
  const encryptionKey = createHmac("sha256", secret).update("cursor encryption").digest();
  const nonceKey = createHmac("sha256", secret).update("cursor nonce").digest();
  return {
    seal: (slug: string, query: ReportsQuery, position: ReportPosition): string => {
      const plain = Buffer.alloc(plainBytes);
      bindingOf(slug, query).copy(plain);
      plain.writeBigInt64BE(BigInt(position.createdAtMs), bindingBytes);
      plain.writeBigInt64BE(BigInt(position.id), bindingBytes + 8);
      // The nonce is derived from the content, as in SIV (RFC 5297): it repeats only if the whole cursor does.
      const nonce = createHmac("sha256", nonceKey).update(plain).digest().subarray(0, nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", encryptionKey, nonce);
      const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return sealed.toString("base64url");
    },
    /** @throws api_bad_request for a text that `seal` did not create */
    open: (cursor: string) => {
      const plain = decrypt(cursor, encryptionKey);
      const createdAtMs = Number(plain.readBigInt64BE(bindingBytes));
      const id = Number(plain.readBigInt64BE(bindingBytes + 8));
      return {
        position: { createdAtMs, id },
        /** Checks that organization and filters are those of the cursor. @throws api_bad_request */
        requireListing: (slug: string, query: ReportsQuery): void => {
          if (!bindingOf(slug, query).equals(plain.subarray(0, bindingBytes)))
            throw refused("cursor: belongs to a listing of another organization or with other filters");
        },
      };
    },
  };
}

function decrypt(cursor: string, key: Buffer): Buffer {
  const bytes = Buffer.from(cursor, "base64url");
  // Node decodes base64 leniently; only the canonical encoding is the cursor.
  if (bytes.length !== cursorBytes || bytes.toString("base64url") !== cursor) throw altered();
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes));
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  const plain = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch (error) {
    throw altered(error);
  }
}

/** A cursor is bound to organization and filters, not to page size or key. A false flag counts as absent. */
function bindingOf(slug: string, query: ReportsQuery): Buffer {
  const { cursor: _cursor, limit: _limit, slug: _slug, ...filters } = query;
  const asked = Object.entries(filters)
    .filter(([, value]) => value !== undefined && value !== false)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([slug, asked]))
    .digest()
    .subarray(0, bindingBytes);
}

function altered(cause?: unknown): FlatlineError {
  return refused("cursor: invalid or altered; start again without a cursor", cause);
}

function refused(issue: string, cause?: unknown): FlatlineError {
  return new FlatlineError("api_bad_request", issue, { issues: [issue], ...(cause === undefined ? {} : { cause }) });
}

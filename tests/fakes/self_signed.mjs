// A self-signed certificate for 127.0.0.1 and localhost, made on the spot: Node has no function for it, and no key is to
// lie about in the repository. X.509 (RFC 5280) in DER, written by hand.
import { createHash, generateKeyPairSync, sign } from "node:crypto";

function der(tag, ...parts) {
  const body = Buffer.concat(parts.map((part) => (Buffer.isBuffer(part) ? part : Buffer.from(part))));
  const size = body.length < 128 ? [body.length] : body.length < 256 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...parts) => der(0x30, ...parts);
const oid = (...bytes) => der(0x06, bytes);
const text = (s) => der(0x0c, Buffer.from(s));
const time = (date) => der(0x17, Buffer.from(date.toISOString().replace(/^..|[-:T]|\.\d+/g, "")));
const extension = (id, critical, value) => sequence(id, ...(critical ? [der(0x01, [0xff])] : []), der(0x04, value));

/** `until` is when it expires. */
export function selfSigned({ until = new Date(Date.now() + 24 * 3600 * 1000) } = {}) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)); // ecdsa-with-SHA256
  const name = sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), text("fake model server"))));
  const names = sequence(der(0x87, [127, 0, 0, 1]), der(0x82, Buffer.from("localhost")));
  const tbs = sequence(
    der(0xa0, der(0x02, [2])),
    der(0x02, createHash("sha256").update(spki).digest().subarray(0, 8).map((b, i) => (i === 0 ? (b & 0x3f) | 0x40 : b))),
    algorithm,
    name,
    sequence(time(new Date(until - 2 * 24 * 3600 * 1000)), time(until)),
    name,
    spki,
    der(0xa3, sequence(
      extension(oid(0x55, 0x1d, 0x13), true, sequence(der(0x01, [0xff]))), // a CA: it vouches for itself
      extension(oid(0x55, 0x1d, 0x11), false, names),
    )),
  );
  const signature = sign("sha256", tbs, privateKey);
  const cert = sequence(tbs, algorithm, der(0x03, [0], signature)).toString("base64").replace(/.{64}/g, "$&\n");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }),
    cert: `-----BEGIN CERTIFICATE-----\n${cert}\n-----END CERTIFICATE-----\n`,
  };
}

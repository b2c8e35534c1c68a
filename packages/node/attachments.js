// Files that go with a prompt: paths and bytes, as the library takes them.
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError, LimitError } from "./errors.js";

const BYTES_MAX = 10 * 1024 * 1024; // LT_ATTACHMENTS_BYTES of the library, which says the rest

const isBytes = (one) => ArrayBuffer.isView(one) || one instanceof ArrayBuffer;

async function read(path) {
  // Opening a pipe would wait for a writer, and a device may do anything.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const about = await file.stat();
    if (!about.isFile()) throw new ConfigError(`${path} cannot be attached: it is no file`);
    if (about.size > BYTES_MAX) throw new LimitError(`${path} cannot be attached: it has ${about.size} bytes, and all attachments of a prompt may have ${BYTES_MAX}`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function base64(bytes) {
  const view = ArrayBuffer.isView(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.from(bytes);
  return view.toString("base64");
}

async function member(one) {
  if (typeof one === "string" || one instanceof URL) {
    const path = one instanceof URL ? fileURLToPath(one) : one;
    return { name: basename(path), data: base64(await read(path)) };
  }
  const { data, mimeType, name = "attachment" } = isBytes(one) ? { data: one } : one ?? {};
  if (!isBytes(data)) throw new ConfigError("an attachment is a path, bytes, or an object with bytes as its `data`");
  return { name: String(name), data: base64(data), mimeType };
}

/** The attachments as the library takes them. Rejects with ConfigError, LimitError, or the error of a file. */
export async function attachmentsJson(given) {
  if (given === undefined || given === null) return undefined;
  if (!Array.isArray(given)) throw new ConfigError("attachments are a list");
  return JSON.stringify(await Promise.all(given.map(member)));
}

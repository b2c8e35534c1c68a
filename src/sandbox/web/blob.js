// Blob and File: File API, sections 3 and 4. No streams, no object URLs.
import { TextDecoder, TextEncoder } from '@exodus/bytes/encoding-lite.js';
import { shown, tag } from './tag.js';

const bytesOf = (part) => {
  if (part instanceof Blob) return part._bytes;
  if (part instanceof ArrayBuffer) return new Uint8Array(part.slice(0));
  if (ArrayBuffer.isView(part)) return new Uint8Array(part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength));
  return new TextEncoder().encode(String(part));
};
const joined = (parts) => {
  const all = parts.map(bytesOf);
  const bytes = new Uint8Array(all.reduce((n, it) => n + it.length, 0));
  let at = 0;
  for (const it of all) {
    bytes.set(it, at);
    at += it.length;
  }
  return bytes;
};
const place = (n, size, otherwise) => {
  if (n === undefined) return otherwise;
  n = Math.trunc(Number(n)) || 0;
  return n < 0 ? Math.max(size + n, 0) : Math.min(n, size);
};

export class Blob {
  #bytes; #type;
  constructor(parts = [], options = {}) {
    if (typeof parts !== 'object' || parts === null || typeof parts[Symbol.iterator] !== 'function') {
      throw new TypeError('The "sources" argument must be an iterable of parts');
    }
    this.#bytes = joined([...parts]);
    const type = String(options?.type ?? '');
    this.#type = /[^\x20-\x7e]/.test(type) ? '' : type.toLowerCase();
  }
  get _bytes() { return this.#bytes; }
  get size() { return this.#bytes.length; }
  get type() { return this.#type; }
  async text() { return new TextDecoder().decode(this.#bytes); }
  async arrayBuffer() { return this.#bytes.slice().buffer; }
  async bytes() { return this.#bytes.slice(); }
  slice(start, end, type = '') {
    const from = place(start, this.size, 0), to = place(end, this.size, this.size);
    return new Blob([this.#bytes.subarray(from, Math.max(from, to))], { type });
  }
  stream() { throw new TypeError('Blob.stream() is not here: use await blob.bytes() or await blob.text()'); }
}
tag(Blob, 'Blob');
Object.defineProperty(Blob.prototype, '_bytes', { enumerable: false });
shown(Blob, function (depth, options, inspect) {
  return `Blob ${inspect({ size: this.size, type: this.type }, options)}`;
});

export class File extends Blob {
  #name; #lastModified;
  constructor(parts, name, options = {}) {
    if (arguments.length < 2) throw new TypeError('The "fileBits" and "fileName" arguments must be specified');
    super(parts, options);
    this.#name = String(name);
    this.#lastModified = options?.lastModified ?? Date.now();
  }
  get name() { return this.#name; }
  get lastModified() { return this.#lastModified; }
}
tag(File, 'File');
shown(File, function (depth, options, inspect) {
  return `File ${inspect({ size: this.size, type: this.type, name: this.name, lastModified: this.lastModified }, options)}`;
});

// crypto: Web Cryptography, sections 10 and 14.3.5. Random bytes come from the host, which gives a repeated run the same.
import { sha1 } from '@noble/hashes/legacy.js';
import { sha256, sha384, sha512 } from '@noble/hashes/sha2.js';
import { tag } from './tag.js';

const hashes = { 'SHA-1': sha1, 'SHA-256': sha256, 'SHA-384': sha384, 'SHA-512': sha512 };
const integers = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array,
                  BigUint64Array];
const key = Symbol('made here');

export class SubtleCrypto {
  constructor(secret) { if (secret !== key) throw new TypeError('Illegal constructor'); }
  async digest(algorithm, data) {
    const name = String(typeof algorithm === 'object' && algorithm !== null ? algorithm.name : algorithm).toUpperCase();
    const hash = hashes[name];
    if (!hash) throw new DOMException('Unrecognized algorithm name', 'NotSupportedError');
    if (!(data instanceof ArrayBuffer) && !ArrayBuffer.isView(data)) {
      throw new TypeError("crypto.subtle.digest() expects bytes: new TextEncoder().encode(text)");
    }
    const bytes = data instanceof ArrayBuffer ? new Uint8Array(data)
                                              : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const out = hash(bytes);
    return out.buffer.slice(out.byteOffset, out.byteOffset + out.byteLength);
  }
}
for (const name of ['encrypt', 'decrypt', 'sign', 'verify', 'generateKey', 'deriveKey', 'deriveBits', 'importKey', 'exportKey',
                    'wrapKey', 'unwrapKey']) {
  roots.hidden(SubtleCrypto.prototype, name, async () => {
    throw new DOMException(`crypto.subtle.${name}() is not here: only digest() is`, 'NotSupportedError');
  });
}
tag(SubtleCrypto, 'SubtleCrypto');

const random = (bytes) => {
  const hex = H.random(bytes.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
};

export class Crypto {
  #subtle;
  constructor(secret) {
    if (secret !== key) throw new TypeError('Illegal constructor');
    this.#subtle = new SubtleCrypto(key);
  }
  get subtle() { return this.#subtle; }
  getRandomValues(array) {
    if (!integers.some((type) => array instanceof type)) {
      throw new DOMException('The data argument must be an integer-type TypedArray', 'TypeMismatchError');
    }
    if (array.byteLength > 65536) {
      throw new DOMException(`The requested length exceeds 65,536 bytes`, 'QuotaExceededError');
    }
    random(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return array;
  }
  // RFC 9562, section 5.4: version 4, variant 10.
  randomUUID() {
    const hex = H.random(16);
    const variant = '89ab'[parseInt(hex[16], 16) & 3];
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }
}
tag(Crypto, 'Crypto');
export const crypto = new Crypto(key);

// The globals of the web, as the web's image runs them once before it is frozen: esbuild bundles this file as a function
// of (H, roots), like prelude.js (see Makefile). Nothing here reaches outside but random bytes and timers, which the
// run's record has.
import URL from 'core-js-pure/actual/url';
import URLSearchParams from 'core-js-pure/actual/url-search-params';
import path from 'core-js-pure/internals/path';
// Not the package's whole structured-clone: that brings a Map and a Set of its own, which are not the program's.
import 'core-js-pure/modules/web.structured-clone';
import { TextDecoder, TextEncoder } from '@exodus/bytes/encoding-lite.js';
import { AbortController, AbortSignal } from './abort.js';
import { Blob, File } from './blob.js';
import { Crypto, SubtleCrypto, crypto } from './crypto.js';
import { CustomEvent, Event, EventTarget } from './event.js';
import { FormData } from './form.js';
import { Headers } from './headers.js';
import { showAll } from './shown.js';

const { structuredClone } = path;
const globals = {
  AbortController, AbortSignal, Blob, Crypto, CustomEvent, Event, EventTarget, File, FormData, Headers, SubtleCrypto,
  TextDecoder, TextEncoder, URL, URLSearchParams, crypto, structuredClone,
};
for (const name of Object.keys(globals)) {
  const value = globals[name];
  roots.hidden(globalThis, name, value);
  if (typeof value === 'function' && value.name !== name) Object.defineProperty(value, 'name', { value: name });
}
showAll(globals);

// core-js keeps what its modules share in a global; they have found it by now.
delete globalThis['__core-js_shared__'];

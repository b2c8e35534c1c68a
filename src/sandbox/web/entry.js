// The globals of the web, as the web's image runs them once before it is frozen: esbuild bundles this file as a function
// of (H, roots), like prelude.js (see Makefile). Nothing here reaches outside.
import URL from 'core-js-pure/actual/url';
import URLSearchParams from 'core-js-pure/actual/url-search-params';
import structuredClone from 'core-js-pure/actual/structured-clone';

const { hidden } = roots;
hidden(globalThis, 'URL', URL);
hidden(globalThis, 'URLSearchParams', URLSearchParams);
hidden(globalThis, 'structuredClone', structuredClone);

// core-js keeps what its modules share in a global; they have found it by now.
delete globalThis['__core-js_shared__'];

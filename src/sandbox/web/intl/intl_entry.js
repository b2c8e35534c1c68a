// Intl, as its image runs it once before it is frozen: esbuild bundles this file as a function of (H, roots), like prelude.js.
import { install, setDefaultZone } from './intl.js';

const WARN = 1;
install(globalThis, (text) => H.log(WARN, text));
roots.setTimeZone = setDefaultZone;

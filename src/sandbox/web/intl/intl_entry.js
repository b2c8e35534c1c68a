// Intl, as its image runs it once before it is frozen: esbuild bundles this file as a function of (H, roots), like prelude.js.
import { install, setDefaultZone } from './intl.js';

const WARN = 1;
install(globalThis, (text) => H.log(WARN, text));
roots.setTimeZone = setDefaultZone;

// What most programs need is decoded in the image already.
const { DateTimeFormat, NumberFormat } = Intl;
new NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(1);
new DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'America/New_York' }).format(0);
new DateTimeFormat('en-US', { month: 'long' }).format(0);

// What the stripper's image runs once before it is frozen: esbuild bundles this file with sucrase (see Makefile).
import { transform } from "sucrase";

globalThis.__strip = (source) => transform(source, { transforms: ["typescript"], disableESTransforms: true }).code;

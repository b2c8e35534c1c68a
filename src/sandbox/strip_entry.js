// What the stripper's image runs once before it is frozen: esbuild bundles this file with sucrase, as a function of
// (H, roots) like prelude.js (see Makefile).
import { transform } from "sucrase";
import { namespacesAsFunctions } from "./strip_namespaces.js";

roots.strip = (source) =>
  transform(namespacesAsFunctions(source), { transforms: ["typescript"], disableESTransforms: true }).code;

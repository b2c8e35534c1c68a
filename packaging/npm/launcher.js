#!/usr/bin/env node
"use strict";
// Starts the program of the package for this platform, which npm has installed beside this one (optionalDependencies).
// Node.js 22.15 and later become the program; an older one stays and waits for it.
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { dirname, join } = require("node:path");

const { optionalDependencies } = require("./package.json");
const name = Object.keys(optionalDependencies).find((it) => it.endsWith(`-${process.platform}-${process.arch}`));

function find() {
  if (!name) throw new Error(`there is no package for ${process.platform}-${process.arch}`);
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), "bin", "lathe");
  } catch {
    throw new Error(`${name} is not installed: npm leaves it out with --omit=optional, or where the lockfile was made on another platform`);
  }
}

function start(program, args) {
  if (process.execve) process.execve(program, [program, ...args], process.env);
  const child = spawn(program, args, { stdio: "inherit" });
  // A terminal sends its signals to both; others are sent to this process alone.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`lathe: ${error.message}`);
    process.exit(126);
  });
  child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
}

try {
  start(find(), process.argv.slice(2));
} catch (error) {
  console.error(`lathe: ${error.message}`);
  process.exit(126);
}

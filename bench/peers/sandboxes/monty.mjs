// Pydantic's Monty: an interpreter of a part of Python, in this process.
import { Monty, runMontyAsync } from "@pydantic/monty";
import { python, versionOf } from "../programs.mjs";

export async function open({ tools, memoryMb, limitMs }) {
  const options = { limits: { maxDurationSecs: limitMs / 1000, maxMemory: memoryMb * 2 ** 20 }, externalFunctions: tools };
  return {
    name: `@pydantic/monty ${versionOf("@pydantic/monty")}`,
    dialect: python,
    run: (code) => new Monty(code).run(options),
    waiting: { dialect: python, run: (code) => runMontyAsync(new Monty(code), options) },
  };
}

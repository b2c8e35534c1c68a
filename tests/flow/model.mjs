// Models for the flow tests of the agent: the fake ones of tests/fakes, and recordings that are played back.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { after } from "node:test";
import { folder, jsonLines, root } from "./harness.mjs";

const started = [];
after(() => started.forEach((child) => child.kill()));

/** Starts a server that says "PORT N"; the number. */
function listen(...args) {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  started.push(child);
  return new Promise((yes, no) => {
    let said = "";
    child.on("exit", (code) => no(new Error(`${args[0]} ended with ${code}`)));
    child.stdout.on("data", (bytes) => {
      said += bytes;
      const found = /PORT (\d+)\n/.exec(said);
      if (found) yes(Number(found[1]));
    });
  });
}

/** The environment for a model that plays these turns back: [{user, replies}]. */
export async function recorded(turns, rest = {}, ...options) {
  const file = join(folder({ "recording.json": JSON.stringify({ ...rest, turns }) }), "recording.json");
  const port = await listen(join(root, "examples/recorded-model.mjs"), file, ...options);
  return { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_API_KEY: "", OPENAI_MODEL: "recorded" };
}

/** The environment for a fake model with one of its behaviours; `of("name")`. */
export async function faked() {
  const port = await listen(join(root, "tests/fakes/model_server.mjs"));
  return (behaviour) => ({ OPENAI_BASE_URL: `http://127.0.0.1:${port}/${behaviour}/chat/v1`, OPENAI_API_KEY: "", OPENAI_MODEL: "fake" });
}

/** A model that gives these replies in order (tests/fakes/script_model.mjs): the environment, and the bodies it was asked with. */
export async function scriptedModel(replies) {
  const path = folder({ "m.json": JSON.stringify(replies) });
  const port = await listen(join(root, "tests/fakes/script_model.mjs"), path);
  const asked = () => jsonLines(join(path, "m.asked"));
  const count = () => asked().length;
  return { count, env: { OPENAI_BASE_URL: `http://127.0.0.1:${port}/m/v1`, OPENAI_API_KEY: "", OPENAI_MODEL: "scripted", XDG_STATE_HOME: folder() }, asked };
}

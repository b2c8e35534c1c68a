#include "config/config_keys.h"

#include "base/limits.h"
#include "config/config_finish.h"
#include "config/config_harmless.h"
#include "config/model_provider.h"

/* --- Macros for rows ---------------------------------------------------------------------------------------------- */

#define MEMBER(record, member)           __typeof__(((record *)NULL)->member)
#define IS(record, member, type)         __builtin_types_compatible_p(MEMBER(record, member), type)
#define AT(record, member, right)        .at = offsetof(record, member) + 0 * sizeof(char[(right) ? 1 : -1])
#define OF_TYPE(k, record, member, type) .kind = LT_CONFIG_##k, AT(record, member, IS(record, member, type))

/* A kind, and the member that the value goes to. A member of another type does not compile. */
#define TEXT(record, member)    OF_TYPE(TEXT, record, member, const char *)
#define NUMBER(record, member)  OF_TYPE(NUMBER, record, member, int64_t)
#define DECIMAL(record, member) OF_TYPE(DECIMAL, record, member, const char *)
#define TRUTH(record, member)   OF_TYPE(TRUTH, record, member, bool)
#define MAYBE(record, member)   OF_TYPE(MAYBE, record, member, int), .standard = -1
#define CHOICE(record, member) \
  .kind = LT_CONFIG_CHOICE, AT(record, member, sizeof(MEMBER(record, member)) == sizeof(int))
#define TEXTS(record, member)       OF_TYPE(TEXTS, record, member, const char *const *)
#define ENV(record, member)         OF_TYPE(ENV, record, member, const char *const *)
#define HEADERS(record, member)     OF_TYPE(HEADERS, record, member, const char *const *)
#define PASSTHROUGH(record, member) OF_TYPE(PASSTHROUGH, record, member, lt_config_passthrough)
#define JSON(record, member)        OF_TYPE(JSON, record, member, const char *)
#define GIVEN(record, member)       OF_TYPE(SECTION, record, member, bool)
#define SECTION                     .kind = LT_CONFIG_SECTION, .at = LT_CONFIG_NOWHERE

#define ARRAY(k, record, member, count, type) \
  OF_TYPE(k, record, member, const type *), .count_at = offsetof(record, count), .record_bytes = sizeof(type)
#define COUNTS(record, member, count)        ARRAY(COUNTS, record, member, count, lt_config_count)
#define RECORDS(record, member, count, type) ARRAY(RECORDS, record, member, count, type)
#define NAMED(record, member, count, type)   ARRAY(NAMED, record, member, count, type)

#define FLAGS(...)        .flags = (__VA_ARGS__)
#define FROM_TO(low, top) .min = (low), .max = (int64_t)(top)
#define FROM(low)         .min = (low), .max = INT64_MAX
#define AT_MOST(top)      .max = (top)

#define AGE            .finish = lt_config_finish_age, .example = "90d", .standard_text = "`never`"
#define SAY_WHERE      "write where it is, or leave it out"
#define NAME_TOOLS     "write a tool's id, or \"*\" for all"
#define NAME_CONDITION "write a condition, or leave \"when\" out to match every call"

static const char *const server_types[] = {"stdio", "http", "sse", "streamable-http", "streamableHttp", NULL};
static const char *const apis[] = {"messages", "responses", "chat", NULL};
static const char *const efforts[] = {"none", "minimal", "low", "medium", "high", "xhigh", "max", NULL};
static const char *const starts[] = {"on-demand", "always", NULL};                      /* lt_config_start */
static const char *const grants[] = {"authorization_code", "client_credentials", NULL}; /* lt_config_grant */
static const char *const built_in_plugins[] = {"artifact", "interpreter", "plan", "python", NULL};
static const char *const actions[] = {"allow", "ask", "deny", NULL};                 /* lt_config_action */
static const char *const exposures[] = {"code", "direct", "both", "hidden", NULL};   /* lt_config_expose */
static const char *const engines[] = {"quickjs", "deno", NULL};                      /* lt_config_engine */
static const char *const logs[] = {"text", "json", NULL};                            /* lt_config_log */
static const char *const log_levels[] = {"error", "warning", "info", "debug", NULL}; /* lt_config_log_level */
static const char *const command_or_url[] = {"command", "url", "disabled", NULL};
static const char *const calls_or_rate[] = {"calls", "perMinute", NULL};
static const char *const model_names[] = {"ref", NULL};
static const char *const module_names[] = {"name", NULL};
static const char *const path_or_name[] = {"path", "name", NULL};

_Static_assert(offsetof(lt_config_server, name) == 0 && offsetof(lt_config_count, name) == 0, "names come first");

/* --- The keys ----------------------------------------------------------------------------------------------------- */

/* clang-format off */
const lt_config_key lt_config_keys[] = {
    {"mcpServers", NAMED(lt_config, servers, server_count, lt_config_server), FLAGS(LT_CONFIG_OPEN | LT_CONFIG_RELOADS),
     AT_MOST(LT_MCP_SERVERS_MAX), .fault_at = offsetof(lt_config_server, fault), .needs = command_or_url, .finish = lt_config_finish_server,
     .wants = "start programs, with the environment of this process, or connect to addresses",
     .doc = "MCP servers by name, in the shape that every MCP client uses; unknown keys of a server are warnings."},
    {"mcpServers.*.type", TEXT(lt_config_server, type), .choices = server_types,
     .standard_text = "`http` where there is a `url` and no `command`, else `stdio`",
     .doc = "How to talk to the server: over its standard input and output, by Streamable HTTP, or by the older HTTP with events (`sse`)."},
    {"mcpServers.*.command", TEXT(lt_config_server, command),
     .doc = "The program to start, looked up in `$PATH`."},
    {"mcpServers.*.args", TEXTS(lt_config_server, args), FLAGS(LT_CONFIG_SECRET),
     .doc = "Its arguments; numbers and booleans are passed as written."},
    {"mcpServers.*.env", ENV(lt_config_server, env), FLAGS(LT_CONFIG_SECRET),
     .doc = "Variables that are added to its environment."},
    {"mcpServers.*.cwd", TEXT(lt_config_server, cwd), FLAGS(LT_CONFIG_FILE_PATH),
     .standard_text = "where `lathe` was started; in the user's file, its folder", .doc = "The folder that it starts in."},
    {"mcpServers.*.url", TEXT(lt_config_server, url), FLAGS(LT_CONFIG_SECRET),
     .doc = "The address to connect to, instead of a command."},
    {"mcpServers.*.headers", HEADERS(lt_config_server, headers), FLAGS(LT_CONFIG_SECRET),
     .doc = "HTTP headers that are sent to that address, such as `Authorization: Bearer ${TOKEN}`."},
    {"mcpServers.*.oauth", SECTION, FLAGS(LT_CONFIG_OPEN),
     .doc = "How Lathe logs in to that address (OAuth 2.1); nothing is needed where the authorization server registers clients by itself."},
    {"mcpServers.*.oauth.clientId", TEXT(lt_config_server, oauth.client_id), FLAGS(LT_CONFIG_EMPTY_IS_NONE),
     .standard_text = "Lathe registers itself", .doc = "The id of a client that is registered there already."},
    {"mcpServers.*.oauth.clientSecretEnv", TEXT(lt_config_server, oauth.client_secret_env), FLAGS(LT_CONFIG_EMPTY_IS_NONE | LT_CONFIG_VARIABLE),
     .example = "TRACKER_CLIENT_SECRET", .doc = "The name of the environment variable that holds that client's secret, never the secret itself."},
    {"mcpServers.*.oauth.clientMetadataUrl", TEXT(lt_config_server, oauth.client_metadata_url), FLAGS(LT_CONFIG_EMPTY_IS_NONE),
     .doc = "The https address of a client ID metadata document: it is the client's id where the authorization server takes such ids."},
    {"mcpServers.*.oauth.scopes", TEXTS(lt_config_server, oauth.scopes), .standard_text = "what the server asks for",
     .doc = "The scopes to ask for."},
    {"mcpServers.*.oauth.callbackPort", NUMBER(lt_config_server, oauth.callback_port), FROM_TO(0, 65535),
     .doc = "The port of this machine that a browser is sent back to; 0: any that is free."},
    {"mcpServers.*.oauth.grant", CHOICE(lt_config_server, oauth.grant), .choices = grants,
     .doc = "`authorization_code`: a person logs in. `client_credentials`: the client of `clientId` acts for itself, without a login."},
    {"mcpServers.*.answerWithDefaults", TRUTH(lt_config_server, answer_with_defaults),
     .doc = "The server may ask questions (elicitation); its own default values are the answer, or it is declined where a required one is missing."},
    {"mcpServers.*.sampling", GIVEN(lt_config_server, has_sampling), .short_for = "allow",
     .doc = "The server may ask the configured model (sampling); `true` allows it with the limits below."},
    {"mcpServers.*.sampling.allow", TRUTH(lt_config_server, allows_sampling), .standard = true,
     .doc = "`false` refuses it without taking the other keys out."},
    {"mcpServers.*.sampling.model", TEXT(lt_config_server, sampling_model), FLAGS(LT_CONFIG_EMPTY_IS_NONE),
     .standard_text = "`defaults.model`", .doc = "The `ref` of the model that is asked, whatever the server would prefer."},
    {"mcpServers.*.sampling.requests", NUMBER(lt_config_server, sampling_requests), FROM_TO(1, LT_SAMPLING_REQUESTS_MAX),
     .standard = LT_SAMPLING_REQUESTS, .doc = "How often it may ask in one run; the next request is refused."},
    {"mcpServers.*.sampling.maxTokens", NUMBER(lt_config_server, sampling_tokens), FROM_TO(1, LT_SAMPLING_TOKENS_MAX),
     .standard = LT_SAMPLING_TOKENS, .doc = "How long an answer may become in tokens, also if the server wants more."},
    {"mcpServers.*.roots", TEXTS(lt_config_server, roots),
     .doc = "Folders, by absolute path, that the server is told when it asks for its roots."},
    {"mcpServers.*.allowHttp", TRUTH(lt_config_server, allow_http),
     .doc = "The `url` may begin with http:// for another machine than this one: what is sent can be read on the way."},
    {"mcpServers.*.disabled", TRUTH(lt_config_server, disabled),
     .doc = "The server is not used, and its other keys are left as they are written."},
    {"mcpServers.*.startTimeoutMs", NUMBER(lt_config_server, start_timeout_ms), FROM_TO(1, LT_RUN_TIMEOUT_MAX_MS),
     .standard_text = "30000", .doc = "How long the server may take to start and to list its tools, in milliseconds."},
    {"mcpServers.*.start", CHOICE(lt_config_server, start), .choices = starts,
     .doc = "When it starts: at the first call of one of its tools, where they are known from the last time, or with every command."},
    {"mcpServers.*.idleTimeoutMs", NUMBER(lt_config_server, idle_timeout_ms), FROM_TO(0, LT_MCP_IDLE_TIMEOUT_MAX_MS),
     .standard = LT_MCP_IDLE_TIMEOUT_MS,
     .doc = "After this time without a call the server is stopped, in milliseconds, until it is called again; 0: never."},

    {"defaults", SECTION, .wants = "choose a model and a mode",
     .doc = "Defaults for prompts of `lathe chat`; the command line overrides them."},
    {"defaults.model", TEXT(lt_config, defaults.model), FLAGS(LT_CONFIG_RELOADS | LT_CONFIG_EMPTY_IS_NONE), .standard_text = "`normal`",
     .finish = lt_config_finish_default_model,
     .doc = "The `ref` of the model that is asked."},
    {"defaults.mode", TEXT(lt_config, defaults.mode), FLAGS(LT_CONFIG_RELOADS | LT_CONFIG_EMPTY_IS_NONE),
     .standard_text = "`classic`; in `lathe chat` with more than ten tools `code`",
     .finish = lt_config_finish_default_mode,
     .doc = "The execution mode of models without a `codeMode` of their own."},
    {"defaults.codeMode", TRUTH(lt_config, defaults.code_mode), FLAGS(LT_CONFIG_RELOADS),
     .doc = "All models work in mode `typescript`, except those with `codeMode: false`."},
    {"defaults.maxRounds", COUNTS(lt_config, defaults.rounds, defaults.rounds_count), FLAGS(LT_CONFIG_RELOADS), FROM_TO(1, LT_ROUNDS_MAX),
     .standard_text = "`classic`, `codex` and `typescript` 25, `code` 10, a plugin's mode what the plugin says",
     .doc = "The maximum number of requests to a model for one message, by mode."},

    {"models", RECORDS(lt_config, models, model_count, lt_config_model), FLAGS(LT_CONFIG_RELOADS), .names = model_names, .finish = lt_config_finish_model,
     .wants = "send prompts and keys to models",
     .doc = "The models that `lathe chat` may ask; none is needed."},
    {"models[].ref", TEXT(lt_config_model, ref), FLAGS(LT_CONFIG_REQUIRED),
     .empty_advice = "give the model a name of yours, as \"normal\"", .doc = "Your name for the model."},
    {"models[].model", TEXT(lt_config_model, name), FLAGS(LT_CONFIG_EMPTY_IS_NONE),
     .standard_text = "the `ref`; for `normal` and `high` `$OPENAI_MODEL` or `$ANTHROPIC_MODEL`, else a built-in name",
     .doc = "The provider's name for the model."},
    {"models[].provider", TEXT(lt_config_model, provider), FLAGS(LT_CONFIG_EMPTY_IS_NONE), .choices = lt_model_provider_names,
     .standard_text = "that of `baseUrl`; without one `openai`, or `anthropic` where only that has a key",
     .doc = "Whose model it is: says the address and the variable with the key."},
    {"models[].baseUrl", TEXT(lt_config_model, base_url), .finish = lt_config_finish_base_url,
     .standard_text = "the provider's: `$OPENAI_BASE_URL`, else OpenAI's", .example = "http://localhost:11434/v1",
     .doc = "The address of its API, which begins with http:// or https://."},
    {"models[].api", TEXT(lt_config_model, api), FLAGS(LT_CONFIG_EMPTY_IS_NONE), .choices = apis,
     .standard_text = "by the address: `messages` at Anthropic's, `responses` at OpenAI's, else `chat`",
     .doc = "The API that it speaks: Anthropic's Messages, OpenAI's Responses, or chat completions."},
    {"models[].apiKeyEnv", TEXT(lt_config_model, api_key_env), FLAGS(LT_CONFIG_EMPTY_IS_NONE | LT_CONFIG_VARIABLE),
     .finish = lt_config_finish_api_key_env, .standard_text = "the provider's, `OPENAI_API_KEY` or the like, for its own address only",
     .example = "MISTRAL_KEY", .doc = "The name of the environment variable that holds its key, never the key itself."},
    {"models[].maxTokens", NUMBER(lt_config_model, max_tokens), FROM(1), .standard_text = "4096",
     .doc = "The maximum number of tokens in an answer, its reasoning not counted."},
    {"models[].contextTokens", NUMBER(lt_config_model, context_tokens), FROM_TO(LT_MODEL_CONTEXT_MIN, LT_MODEL_CONTEXT_MAX), .standard_text = "128000",
     .doc = "How many tokens a request and its answer may have together; earlier messages that take more than half of it are summarised."},
    {"models[].temperature", DECIMAL(lt_config_model, temperature), .standard_text = "the provider's",
     .doc = "How freely it chooses its words, from 0; left out where the model refuses it."},
    {"models[].reasoningEffort", TEXT(lt_config_model, effort), FLAGS(LT_CONFIG_EMPTY_IS_NONE), .choices = efforts,
     .standard_text = "the provider's",
     .doc = "How much it reasons before it answers; it may then use as many more tokens (`low` 2048, `medium` 8192, `high` 16384, above 32768)."},
    {"models[].headers", HEADERS(lt_config_model, headers), FLAGS(LT_CONFIG_SECRET),
     .doc = "Further headers of its requests, or others in place of Lathe's."},
    {"models[].body", JSON(lt_config_model, body), FLAGS(LT_CONFIG_SECRET),
     .doc = "Further members of its requests, or others in place of Lathe's; `null` leaves a member out."},
    {"models[].answerTimeoutMs", NUMBER(lt_config_model, answer_ms), FROM_TO(1, LT_MODEL_TIMEOUT_MAX_MS), .standard_text = "300000",
     .doc = "How long its answer may take to begin, in milliseconds."},
    {"models[].idleTimeoutMs", NUMBER(lt_config_model, idle_ms), FROM_TO(1, LT_MODEL_TIMEOUT_MAX_MS), .standard_text = "120000",
     .doc = "How long its answer may pause, in milliseconds."},
    {"models[].images", MAYBE(lt_config_model, images), .standard_text = "by its name; else until its provider refuses one",
     .doc = "The model takes images; of one that does not, it is told what is left out."},
    {"models[].files", MAYBE(lt_config_model, files), .standard_text = "likewise",
     .doc = "The model takes documents (PDF)."},
    {"models[].codeMode", MAYBE(lt_config_model, code_mode), .standard_text = "`defaults.codeMode`",
     .doc = "The model works in mode `typescript` by default."},
    {"models[].price", SECTION, .doc = "What it costs, in US dollars for a million tokens; shown beside what was used."},
    {"models[].price.input", DECIMAL(lt_config_model, price.input), .doc = "Of what the model is sent."},
    {"models[].price.output", DECIMAL(lt_config_model, price.output), .doc = "Of what it answers."},
    {"models[].price.cachedInput", DECIMAL(lt_config_model, price.cached_input), .standard_text = "the price of `input`",
     .doc = "Of what it is sent and the provider still knows: reads of its cache."},
    {"models[].price.cacheWrite", DECIMAL(lt_config_model, price.cache_write), .standard_text = "the price of `input`",
     .doc = "Of what it is sent and the provider writes to its cache."},

    {"instructions", SECTION, FLAGS(LT_CONFIG_RELOADS), .short_for = "text", .wants = "tell models what to do",
     .doc = "What models are told beside their mode: a text, or these keys."},
    {"instructions.text", TEXT(lt_config, instructions.text), FLAGS(LT_CONFIG_EMPTY_IS_NONE),
     .doc = "A text for every model and mode."},
    {"instructions.files", TRUTH(lt_config, instructions.has_files), .standard = true,
     .doc = "`lathe chat` adds `AGENTS.md` (or `CLAUDE.md` where there is no other) of the folder and of those above it, each once it is trusted: `lathe trust AGENTS.md`."},
    {"instructions.date", TRUTH(lt_config, instructions.has_date),
     .doc = "`lathe chat` tells them the date. What changes makes the provider read everything again that it had in its cache; the same with the next two."},
    {"instructions.folder", TRUTH(lt_config, instructions.has_folder),
     .doc = "`lathe chat` tells them the folder."},
    {"instructions.system", TRUTH(lt_config, instructions.has_system),
     .doc = "`lathe chat` tells them the operating system."},

    {"modules", RECORDS(lt_config, modules, module_count, lt_config_module), .names = module_names, .finish = lt_config_finish_module,
     .wants = "give modules to programs",
     .doc = "Modules that programs may import."},
    {"modules[].name", TEXT(lt_config_module, name), FLAGS(LT_CONFIG_REQUIRED),
     .doc = "The module's name in programs."},
    {"modules[].path", TEXT(lt_config_module, path), FLAGS(LT_CONFIG_REQUIRED | LT_CONFIG_FILE_PATH),
     .doc = "The JavaScript file of the module."},

    {"tools", SECTION, .wants = "set rules, some of which may allow calls",
     .doc = "Rules for calls of tools, and the listing of tools for models."},
    {"tools.policy", RECORDS(lt_config, rules, rule_count, lt_config_rule), FLAGS(LT_CONFIG_RELOADS), .finish = lt_config_finish_rule,
     .doc = "Rules; the first one that matches a call decides."},
    {"tools.policy[].match", TEXT(lt_config_rule, match), FLAGS(LT_CONFIG_REQUIRED), .empty_advice = NAME_TOOLS,
     .is_harmless = lt_config_harmless_text,
     .doc = "A tool's id, with `*` for any characters and `?` for one."},
    {"tools.policy[].action", CHOICE(lt_config_rule, action), FLAGS(LT_CONFIG_REQUIRED), .choices = actions,
     .is_harmless = lt_config_harmless_action,
     .doc = "What happens to the call."},
    {"tools.policy[].when", TEXT(lt_config_rule, when), FLAGS(LT_CONFIG_NOT_NULL), .empty_advice = NAME_CONDITION,
     .standard_text = "always",
     .is_harmless = lt_config_harmless_text,
     .doc = "A condition on the call, such as `input.amount <= 100`."},
    {"tools.policy[].reason", TEXT(lt_config_rule, reason),
     .doc = "A text for the person who is asked, or for the program whose call is refused."},
    {"tools.budgets", RECORDS(lt_config, budgets, budget_count, lt_config_budget), FLAGS(LT_CONFIG_RELOADS), .needs = calls_or_rate,
     .finish = lt_config_finish_budget, .doc = "How many calls a run may make."},
    {"tools.budgets[].match", TEXT(lt_config_budget, match), FLAGS(LT_CONFIG_REQUIRED), .empty_advice = NAME_TOOLS,
     .is_harmless = lt_config_harmless_text,
     .doc = "The tools that count, as in `tools.policy[].match`."},
    {"tools.budgets[].calls", NUMBER(lt_config_budget, calls), FROM(1), .standard_text = "no limit",
     .is_harmless = lt_config_harmless_number,
     .doc = "Calls in a run."},
    {"tools.budgets[].perMinute", NUMBER(lt_config_budget, per_minute), FROM(1), .standard_text = "no limit",
     .is_harmless = lt_config_harmless_number,
     .doc = "Calls in any 60 seconds of a run."},
    {"tools.expose", RECORDS(lt_config, exposures, exposure_count, lt_config_exposure), FLAGS(LT_CONFIG_RELOADS),
     .doc = "Where tools can be called from; the first entry that matches a tool counts."},
    {"tools.expose[].match", TEXT(lt_config_exposure, match), FLAGS(LT_CONFIG_REQUIRED), .empty_advice = NAME_TOOLS,
     .doc = "The tools, as in `tools.policy[].match`."},
    {"tools.expose[].as", CHOICE(lt_config_exposure, as), FLAGS(LT_CONFIG_REQUIRED), .choices = exposures,
     .doc = "By programs (`code`, which all tools are without an entry), by models and clients of `lathe mcp` one by one (`direct`), by `both`, or by nobody (`hidden`)."},
    {"tools.listingTokens", NUMBER(lt_config, listing_tokens), FLAGS(LT_CONFIG_RELOADS), FROM(1), .standard = LT_LISTING_TOKENS,
     .doc = "The maximum number of tokens in the listing of tools for a model; a longer listing is shortened."},

    {"plugins", RECORDS(lt_config, plugins, plugin_count, lt_config_plugin), AT_MOST(LT_PLUGINS_MAX),
     .short_for = "path", .needs = path_or_name, .names = path_or_name, .finish = lt_config_finish_plugin,
     .wants = "load code into Lathe itself",
     .doc = "Plugins in the order in which they are loaded; a plain text is a `path`."},
    {"plugins[].path", TEXT(lt_config_plugin, path), FLAGS(LT_CONFIG_FILE_PATH), .empty_advice = SAY_WHERE,
     .doc = "A shared object."},
    {"plugins[].name", TEXT(lt_config_plugin, name), .choices = built_in_plugins,
     .doc = "A plugin that is built in, instead of a path."},
    {"plugins[].config", JSON(lt_config_plugin, config), FLAGS(LT_CONFIG_SECRET),
     .doc = "The plugin's own settings; it gets them as JSON."},
    {"plugins[].disabled", TRUTH(lt_config_plugin, disabled),
     .doc = "The plugin is not loaded, and its other keys are left as they are written."},

    {"mcp", SECTION, .wants = "set how it answers other agents",
     .doc = "How `lathe mcp` answers its clients."},
    {"mcp.waitMs", NUMBER(lt_config, mcp_wait_ms), FLAGS(LT_CONFIG_RELOADS), FROM_TO(0, LT_RUN_TIMEOUT_MAX_MS), .standard = LT_GATEWAY_WAIT_MS,
     .doc = "How long a call of `execute_code` or `continue_run` may take in milliseconds; a run that is not done then goes on, and `continue_run` gets its answer."},
    {"mcp.approveByCall", TRUTH(lt_config, mcp_approves_by_call), FLAGS(LT_CONFIG_RELOADS),
     .doc = "`continue_run` takes a decision about a call that waits for approval: the client's model decides, unless the client asks its person about each call of `continue_run`."},

    {"sandbox", SECTION, .wants = "set bounds of programs",
     .doc = "Bounds of every program."},
    {"sandbox.timeoutMs", NUMBER(lt_config, timeout_ms), FLAGS(LT_CONFIG_RELOADS), FROM_TO(1, LT_RUN_TIMEOUT_MAX_MS),
     .standard = LT_RUN_TIMEOUT_MS, .is_harmless = lt_config_harmless_lower,
     .doc = "How long a program may take in milliseconds, tool calls included."},
    {"sandbox.memoryMb", NUMBER(lt_config, memory_mb), FLAGS(LT_CONFIG_RELOADS),
     FROM_TO(LT_RUN_MEMORY_MIN_BYTES / LT_MIB, LT_RUN_MEMORY_MAX_BYTES / LT_MIB), .standard_text = "64, for Python 512",
     .is_harmless = lt_config_harmless_lower,
     .doc = "How much memory a program may use, in MiB."},
    {"sandbox.maxOutputBytes", NUMBER(lt_config, max_output_bytes), FLAGS(LT_CONFIG_RELOADS), FROM_TO(0, LT_RUN_RESULT_MAX_BYTES),
     .standard_text = "65536; `lathe run` into a file or pipe: 67108864", .is_harmless = lt_config_harmless_output,
     .doc = "How much a program may output; what does not fit as a whole is left out, with all that follows."},
    {"sandbox.timeZone", TEXT(lt_config, time_zone), .finish = lt_config_finish_time_zone, .standard_text = "UTC",
     .example = "Europe/Berlin", .is_harmless = lt_config_harmless_text,
     .doc = "The time zone of programs' local time."},
    {"sandbox.requireWalls", TRUTH(lt_config, require_walls), .standard = true,
     .is_harmless = lt_config_harmless_true,
     .doc = "Python and Deno do not run where the kernel lacks a wall."},

    {"python", GIVEN(lt_config, python.given),
     .wants = "run Python its way",
     .doc = "How Python programs run; with this section, also an empty one, models have `execute_code`."},
    {"python.path", TEXT(lt_config, python.path), FLAGS(LT_CONFIG_PROGRAM), .empty_advice = SAY_WHERE,
     .standard_text = "`python3`",
     .doc = "The interpreter."},
    {"python.workspace", TEXT(lt_config, python.workspace), FLAGS(LT_CONFIG_FILE_PATH),
     .standard_text = "a fresh folder for each program", .doc = "The folder that programs work in."},
    {"python.env", ENV(lt_config, python.env), FLAGS(LT_CONFIG_SECRET), .doc = "Variables that programs see."},
    {"python.envPassthrough", PASSTHROUGH(lt_config, python.passthrough), FLAGS(LT_CONFIG_VARIABLE), .standard_text = "`false`",
     .doc = "Variables of Lathe's own environment that programs see; `true` passes all of them."},

    {"deno", SECTION, .wants = "run Deno its way",
     .doc = "How Deno runs."},
    {"deno.path", TEXT(lt_config, deno_path), FLAGS(LT_CONFIG_PROGRAM), .empty_advice = SAY_WHERE,
     .standard_text = "`deno`", .doc = "The program."},

    {"typescript", SECTION, .wants = "run TypeScript its way",
     .doc = "How TypeScript programs run."},
    {"typescript.path", TEXT(lt_config, typescript.path), FLAGS(LT_CONFIG_PROGRAM), .empty_advice = SAY_WHERE,
     .standard_text = "`tsc`",
     .doc = "The compiler that checks types."},
    {"typescript.check", MAYBE(lt_config, typescript.check), .standard_text = "where a `tsc` is found",
     .doc = "The types of TypeScript programs are checked before they start; `true`: without a `tsc` none runs."},
    {"typescript.runner", CHOICE(lt_config, typescript.runner), .choices = engines, .standard = LT_CONFIG_QUICKJS,
     .doc = "The runner of TypeScript programs: quickjs, in the sandbox built in, or deno, in a process."},

    {"plan", GIVEN(lt_config, plan.given),
     .wants = "let models make plans of calls",
     .doc = "Plans of calls; with this section, also an empty one, models have `execute_plan`."},
    {"plan.maxSteps", NUMBER(lt_config, plan.max_steps), FROM_TO(1, 1000), .standard = LT_PLAN_STEPS,
     .doc = "How many steps a plan may have."},
    {"plan.concurrency", NUMBER(lt_config, plan.concurrency), FROM_TO(1, 1000), .standard = LT_PLAN_AT_ONCE,
     .doc = "How many of its steps run at the same time."},

    {"programs", SECTION, .wants = "let models keep programs that run again later",
     .doc = "Saved programs, the tools `programs.NAME`."},
    {"programs.save", TRUTH(lt_config, programs.save),
     .doc = "Models and the programs of clients may save programs, with `save()` and the tool `programs.save`; `lathe save` always may."},

    {"store", SECTION, .short_for = "url", .wants = "keep data in a file of its choice, or delete it",
     .doc = "What is kept, and where; a text is its `url`."},
    {"store.url", TEXT(lt_config, store), .finish = lt_config_finish_store, .example = "sqlite:data/lathe.db",
     .standard_text = "`$XDG_STATE_HOME/lathe/lathe.db`",
     .doc = "The database: `sqlite:PATH`, relative to the file, or `sqlite::memory:` to keep nothing."},
    {"store.retention", SECTION,
     .doc = "How long data is kept: `90d`, a number of days, or `never` to delete it; never what has not ended."},
    {"store.retention.calls", TEXT(lt_config, retention.calls), FLAGS(LT_CONFIG_RELOADS), AGE,
     .doc = "Calls of ended prompts and runs, and what else they can be replayed from; by the time of the call."},
    {"store.retention.conversations", TEXT(lt_config, retention.conversations), FLAGS(LT_CONFIG_RELOADS), AGE,
     .doc = "Conversations with all that belongs to them, after their last use."},
    {"store.retention.artifacts", TEXT(lt_config, retention.artifacts), FLAGS(LT_CONFIG_RELOADS), AGE, .doc = "Artifacts, after they were stored."},
    {"store.artifactsMb", NUMBER(lt_config, artifacts_mb), FROM_TO(1, LT_ARTIFACTS_MAX_MB),
     .standard = LT_ARTIFACTS_STORE_MB, .doc = "The MiB of all artifacts; then no more are stored."},
    {"store.artifactsPerRunMb", NUMBER(lt_config, artifacts_per_run_mb), FROM_TO(1, LT_ARTIFACTS_MAX_MB),
     .standard = LT_ARTIFACTS_RUN_MB, .doc = "The MiB of the artifacts that one run or prompt stores."},

    {"server", SECTION, .wants = "listen for requests",
     .doc = "The HTTP server, `lathe serve` and `lathe mcp --http`."},
    {"server.listen", TEXT(lt_config, server.listen), .example = "127.0.0.1:8420", .standard_text = "`127.0.0.1:8420`",
     .doc = "The address and the port that `lathe serve` listens at, or `unix:PATH`; another address than loopback needs a token (`lathe serve token add`) or `server.proxy.userHeader`."},
    {"server.socketGroup", TEXT(lt_config, server.socket_group), FLAGS(LT_CONFIG_EMPTY_IS_NONE), .standard_text = "only its own user",
     .doc = "The group whose members may connect to a unix socket, such as that of a proxy."},
    {"server.hosts", TEXTS(lt_config, server.hosts), FLAGS(LT_CONFIG_RELOADS),
     .doc = "The host names that it answers to, beside those of loopback: what a proxy in front of it sends as `Host`."},
    {"server.origins", TEXTS(lt_config, server.origins), FLAGS(LT_CONFIG_RELOADS),
     .doc = "Other web sites whose pages may use it, such as `https://app.example`; a page needs a token like anybody."},
    {"server.tokens", TEXTS(lt_config, server.tokens), FLAGS(LT_CONFIG_SECRET),
     .doc = "Tokens of which clients of `lathe mcp --http` send one, as `Authorization: Bearer TOKEN`; write `${NAME}`, so that no token is in the file."},
    {"server.log", CHOICE(lt_config, server.log), FLAGS(LT_CONFIG_RELOADS), .choices = logs, .standard = LT_CONFIG_LOG_TEXT,
     .doc = "How `lathe serve` writes what happens to standard error: a line of text, or of JSON with `time`, `level`, `message` and more."},
    {"server.logLevel", CHOICE(lt_config, server.log_level), FLAGS(LT_CONFIG_RELOADS), .choices = log_levels, .standard = LT_CONFIG_LOG_INFO,
     .doc = "What it writes: `info` has a line for the begin and the end of each prompt, `debug` one for each request."},
    {"server.proxy", SECTION,
     .doc = "A proxy in front of `lathe serve` that says who asks, and from where."},
    {"server.proxy.from", TEXTS(lt_config, server.proxy.from), .finish = lt_config_finish_proxy_from, .example = "127.0.0.1",
     .doc = "The addresses and networks that it comes from, such as `127.0.0.1` or `10.0.0.0/8`; `unix`: the socket of `server.listen`. From there, `X-Forwarded-For` names the client's address."},
    {"server.proxy.userHeader", TEXT(lt_config, server.proxy.user_header), FLAGS(LT_CONFIG_EMPTY_IS_NONE), .example = "X-Remote-User",
     .finish = lt_config_finish_proxy_header,
     .doc = "The header that names the user; from anybody but the proxy it is refused. Then no token is needed."},
    {"server.proxy.secret", TEXT(lt_config, server.proxy.secret), FLAGS(LT_CONFIG_SECRET | LT_CONFIG_EMPTY_IS_NONE),
     .doc = "What the proxy sends as `Lathe-Proxy-Secret` with the user's name; write `${NAME}`. Where other programs have the proxy's address, it tells them apart."},
    {"server.limits", SECTION,
     .doc = "How much clients of `lathe serve` may use; over a limit the answer is 429 with `Retry-After`."},
    {"server.limits.bodyBytes", NUMBER(lt_config, server.limits.body_bytes), FROM_TO(LT_KIB, LT_SERVE_BODY_MAX_BYTES),
     .standard = LT_SERVE_BODY_BYTES, .doc = "The longest body of a request; 413 for a longer one."},
    {"server.limits.headerBytes", NUMBER(lt_config, server.limits.header_bytes), FROM_TO(4 * LT_KIB, LT_MIB),
     .standard = LT_HTTP_SERVER_HEAD_BYTES, .doc = "The longest head of a request; 431 for a longer one."},
    {"server.limits.idleMs", NUMBER(lt_config, server.limits.idle_ms), FROM_TO(1000, 3600000),
     .standard = LT_HTTP_IDLE_MS,
     .doc = "How long a connection may owe the first line of a request, and then its rest, in milliseconds; bytes that come one by one do not make it longer."},
    {"server.limits.connections", NUMBER(lt_config, server.limits.connections), FROM_TO(1, 100000),
     .standard = LT_SERVE_CONNECTIONS,
     .doc = "Connections at once; where there is no place, the one that has owed a request for longest is closed."},
    {"server.limits.connectionsPerAddress", NUMBER(lt_config, server.limits.connections_per_address), FLAGS(LT_CONFIG_RELOADS), FROM_TO(1, 100000),
     .standard_text = "256; for this machine and `server.proxy.from`: all",
     .doc = "The same for each address; of IPv6 for each network of 64 bits. Never for `server.proxy.from`."},
    {"server.limits.requestsPerSecond", NUMBER(lt_config, server.limits.requests_per_second), FLAGS(LT_CONFIG_RELOADS), FROM_TO(1, 1000000),
     .standard_text = "200; without tokens: no limit", .doc = "Requests of a user each second, on the average."},
    {"server.limits.requestsBurst", NUMBER(lt_config, server.limits.requests_burst), FLAGS(LT_CONFIG_RELOADS), FROM_TO(1, 1000000),
     .standard_text = "twice `requestsPerSecond`", .doc = "How many of them may come at once after a pause."},
    {"server.limits.addressRequestsPerSecond", NUMBER(lt_config, server.limits.address_requests_per_second), FLAGS(LT_CONFIG_RELOADS), FROM_TO(1, 1000000),
     .standard_text = "20; for this machine: no limit",
     .doc = "Requests of an address each second that name no user: wrong tokens, and what needs none."},
    {"server.limits.addressRequestsBurst", NUMBER(lt_config, server.limits.address_requests_burst), FLAGS(LT_CONFIG_RELOADS), FROM_TO(1, 1000000),
     .standard_text = "five times `addressRequestsPerSecond`", .doc = "How many of them may come at once after a pause."},
    {"server.limits.requests", NUMBER(lt_config, server.limits.requests), FLAGS(LT_CONFIG_RELOADS), FROM_TO(1, 100000),
     .standard_text = "500; without tokens: no limit", .doc = "Requests of a user that are being answered at once, streams among them."},
    {"server.limits.prompts", NUMBER(lt_config, server.limits.prompts), FLAGS(LT_CONFIG_RELOADS), FROM_TO(1, 100000),
     .standard_text = "200; without tokens: no limit", .doc = "Prompts and programs of a user that have not ended."},
    {"server.limits.readers", NUMBER(lt_config, server.limits.readers), FLAGS(LT_CONFIG_RELOADS), FROM_TO(1, LT_SERVE_READERS_MAX),
     .standard_text = "100; without tokens: 10000", .doc = "Streams of events of a user at once."},
    {"server.limits.queued", NUMBER(lt_config, server.limits.queued), FLAGS(LT_CONFIG_RELOADS), FROM_TO(1, LT_SERVE_QUEUED_MAX),
     .standard_text = "100; without tokens: 10000", .doc = "Requests of a user at once that wait for a busy conversation."},
    {"server.graceMs", NUMBER(lt_config, server.grace_ms), FROM_TO(0, LT_SERVE_GRACE_MAX_MS), .standard = LT_SERVE_GRACE_MS,
     .doc = "How long `lathe serve` lets prompts go on that run when it is asked to end; the next process continues those that have not ended then."},

    {"telemetry", SECTION, .wants = "send traces of what is done to an address of its choice",
     .doc = "Traces of prompts, questions to models, programs and tool calls, for an OpenTelemetry collector ([tracing](tracing.md))."},
    {"telemetry.otlp", SECTION, .short_for = "endpoint",
     .doc = "The collector, which speaks OTLP over HTTP; a text is its `endpoint`."},
    {"telemetry.otlp.endpoint", TEXT(lt_config, telemetry.endpoint), .example = "http://127.0.0.1:4318",
     .standard_text = "`$OTEL_EXPORTER_OTLP_ENDPOINT`",
     .finish = lt_config_finish_otlp_endpoint, .doc = "Its address, to which `/v1/traces` is added."},
    {"telemetry.otlp.headers", HEADERS(lt_config, telemetry.headers), FLAGS(LT_CONFIG_SECRET),
     .finish = lt_config_finish_otlp_headers,
     .doc = "Headers of each request to the endpoint of the same file; write `${NAME}`, so that no key is in the file."},
    {"telemetry.content", TRUTH(lt_config, telemetry.has_content),
     .doc = "Whether spans say what was asked and answered, with secrets masked; without it they say how long it took, and how much it was."},
    {NULL},
};
/* clang-format on */

/* --- Finding rows ------------------------------------------------------------------------------------------------- */

/* What stands between a key's path and the name of a key inside it. */
static const char *config_key_joint(const lt_config_key *key) {
  switch ((int)key->kind) {
    case LT_CONFIG_RECORDS:
      return "[].";
    case LT_CONFIG_NAMED:
      return ".*.";
    default:
      return ".";
  }
}

static bool config_key_is_inside(const lt_config_key *parent, const lt_config_key *key) {
  lt_str rest = lt_str_of(key->path);
  if (parent != NULL) {
    lt_str path = lt_str_of(parent->path), joint = lt_str_of(config_key_joint(parent));
    if (!lt_str_starts(rest, path) || !lt_str_starts(lt_str_sub(rest, path.n, rest.n), joint)) {
      return false;
    }
    rest = lt_str_sub(rest, path.n + joint.n, rest.n);
  }
  return lt_str_find(rest, LT_STR("."), 0) == SIZE_MAX;
}

const lt_config_key *lt_config_key_inside(const lt_config_key *parent, const lt_config_key *previous) {
  const lt_config_key *first = parent != NULL ? parent + 1 : lt_config_keys;
  const char *prefix = parent != NULL ? parent->path : "";
  size_t prefix_bytes = strlen(prefix);
  for (const lt_config_key *key = previous != NULL ? previous + 1 : first; key->path != NULL; key++) {
    if (strncmp(key->path, prefix, prefix_bytes) != 0) {
      return NULL; /* behind the last one */
    }
    if (config_key_is_inside(parent, key)) {
      return key;
    }
  }
  return NULL;
}

const lt_config_key *lt_config_key_find(const lt_config_key *parent, lt_str name) {
  const lt_config_key *key = lt_config_key_inside(parent, NULL);
  while (key != NULL && !lt_str_eqc(name, lt_config_key_name(key))) {
    key = lt_config_key_inside(parent, key);
  }
  return key;
}

const char *lt_config_key_name(const lt_config_key *key) {
  const char *dot = strrchr(key->path, '.');
  return dot != NULL ? dot + 1 : key->path;
}

/* --- Defaults ----------------------------------------------------------------------------------------------------- */

bool lt_config_key_has_standard(const lt_config_key *key) {
  if (key->standard_text != NULL || (key->flags & LT_CONFIG_REQUIRED) != 0) {
    return false;
  }
  return key->kind == LT_CONFIG_NUMBER || key->kind == LT_CONFIG_TRUTH || key->kind == LT_CONFIG_CHOICE;
}

static void config_key_set_standard(const lt_config_key *key, char *record) {
  static const char *const nothing[] = {NULL};
  void *member = record + key->at;
  switch (key->kind) {
    case LT_CONFIG_NUMBER:
      *(int64_t *)member = key->standard;
      break;
    case LT_CONFIG_TRUTH:
      *(bool *)member = key->standard != 0;
      break;
    case LT_CONFIG_MAYBE:
    case LT_CONFIG_CHOICE:
      *(int *)member = (int)key->standard;
      break;
    case LT_CONFIG_TEXTS:
    case LT_CONFIG_ENV:
    case LT_CONFIG_HEADERS:
      *(const char *const **)member = nothing;
      break;
    case LT_CONFIG_PASSTHROUGH:
      *(lt_config_passthrough *)member = (lt_config_passthrough){.names = nothing};
      break;
    case LT_CONFIG_JSON:
      *(const char **)member = "";
      break;
    case LT_CONFIG_TEXT:
    case LT_CONFIG_DECIMAL:
    case LT_CONFIG_COUNTS:
    case LT_CONFIG_SECTION:
    case LT_CONFIG_RECORDS:
    case LT_CONFIG_NAMED:
      break; /* zero is right */
  }
}

/* Whether the row belongs to `parent`, directly or not. */
static bool config_key_is_below(const lt_config_key *parent, const lt_config_key *key) {
  if (key->path == NULL || parent == NULL) {
    return key->path != NULL;
  }
  size_t n = strlen(parent->path);
  return strncmp(key->path, parent->path, n) == 0 && (key->path[n] == '.' || key->path[n] == '[');
}

/* Sections have their members in the same record; the rows of other records are passed over. */
void lt_config_key_set_standards(const lt_config_key *parent, void *record) {
  const lt_config_key *key = parent != NULL ? parent + 1 : lt_config_keys;
  while (config_key_is_below(parent, key)) {
    const lt_config_key *row = key++;
    if (row->at != LT_CONFIG_NOWHERE) {
      config_key_set_standard(row, record);
    }
    while ((row->kind == LT_CONFIG_RECORDS || row->kind == LT_CONFIG_NAMED) && config_key_is_below(row, key)) {
      key++;
    }
  }
}

size_t lt_config_key_bytes(const lt_config_key *key) {
  switch (key->kind) {
    case LT_CONFIG_NUMBER:
      return sizeof(int64_t);
    case LT_CONFIG_TRUTH:
    case LT_CONFIG_SECTION:
      return sizeof(bool);
    case LT_CONFIG_MAYBE:
    case LT_CONFIG_CHOICE:
      return sizeof(int);
    case LT_CONFIG_PASSTHROUGH:
      return sizeof(lt_config_passthrough);
    case LT_CONFIG_TEXT:
    case LT_CONFIG_DECIMAL:
    case LT_CONFIG_JSON:
    case LT_CONFIG_TEXTS:
    case LT_CONFIG_ENV:
    case LT_CONFIG_HEADERS:
    case LT_CONFIG_COUNTS:
    case LT_CONFIG_RECORDS:
    case LT_CONFIG_NAMED:
      break;
  }
  return sizeof(void *);
}

/* Every ceiling of the program, with its unit and its reason.
 *
 * Every number that bounds a buffer, a depth, a queue, a retry or a wait is defined here and nowhere else. Where a
 * comment begins with "of", its noun is in the name: LT_RUN_ERROR_BYTES "of an error's message" is the bytes of an
 * error's message.
 */
#ifndef LT_BASE_LIMITS_H
#define LT_BASE_LIMITS_H

#define LT_KIB (1024UL)
#define LT_MIB (1024UL * 1024UL)
#define LT_GIB (1024UL * 1024UL * 1024UL)

#define LT_NS_PER_MS 1000000u

/* --- JSON --------------------------------------------------------------------------------------------------------- */
#define LT_JSON_MAX_BYTES     (64 * LT_MIB) /* one document: a tool's answer, an input, a result */
#define LT_JSON_MAX_DEPTH     512           /* nesting: far past real documents, far below our stacks */
#define LT_JSON_LITERAL_DEPTH 64            /* of values written out in programs: a schema by hand has about ten */

/* --- programs (docs/guide/programs.md) ---------------------------------------------------------------------------- */
#define LT_RUN_TIMEOUT_MS             30000         /* wall clock, tool calls included, unless asked otherwise */
#define LT_RUN_TIMEOUT_MAX_MS         600000        /* the longest a program may ask for: 10 minutes */
#define LT_RUN_MEMORY_BYTES           (64 * LT_MIB) /* the engine's heap unless asked otherwise */
#define LT_RUN_MEMORY_MIN_BYTES       (2 * LT_MIB)
#define LT_RUN_MEMORY_MAX_BYTES       (2 * LT_GIB)
#define LT_RUN_TIMER_MAX_MS           0x7fffffff /* longer timers are cut to this, 24 days: no program runs that long */
#define LT_RUN_CODE_MAX_BYTES         (8 * LT_MIB)  /* a program's text */
#define LT_RUN_LOG_MAX_BYTES          (64 * LT_KIB) /* all log lines of one program; the rest is dropped, with a note */
#define LT_RUN_OUTPUT_MAX_BYTES       (64 * LT_KIB) /* all output() of one program, likewise */
#define LT_RUN_PIPED_MAX_BYTES        (64 * LT_MIB) /* output and log lines, each, of `lathe run` into a file or pipe */
#define LT_RUN_RESULT_MAX_BYTES       (64 * LT_MIB) /* a result is not cut; over this it is an error */
#define LT_RUN_ERROR_BYTES            (32 * LT_KIB) /* of an error's message: it goes to a model */
#define LT_RUN_CONTEXT_BYTES          200           /* of the line an error is in; minified programs are one line */
#define LT_RUN_FRAMES_CODE_BYTES      LT_MIB /* in longer programs only the innermost frame is looked for: a scan each */
#define LT_CALL_WARNINGS_MAX          32     /* misspelt arguments that one program is warned about */
#define LT_CALL_WARNINGS_SCHEMA_BYTES (256 * LT_KIB) /* longer schemas are not searched for them */
#define LT_RUN_CALLS_MAX              100000         /* tool calls of one program: bounds its journal */
#define LT_RUN_OPEN_CALLS_MAX         1024  /* tool calls of one program in flight at once; further ones queue */
#define LT_RUN_TIMERS_MAX             10000 /* timers of one program that tick at once */
#define LT_RUN_THREADS_MAX            1024  /* of a program's process, in addition to its user's threads */
#define LT_RUN_THREADS_UNKNOWN        8192  /* assumed number of its user's threads where it is unknown */
#define LT_RUN_HELD_MAX_BYTES         (256 * LT_MIB) /* inputs and unread results of one program's open calls */
#define LT_RUN_RECORD_BYTES           LT_MIB         /* one call's input, or its result, in the report */
#define LT_RUN_RECORDS_MAX_BYTES      (64 * LT_MIB)  /* all of them */
#define LT_TAPE_READY_MAX             200000 /* deliveries recorded of one run; a run with more cannot be replayed */
#define LT_TAPE_TICK_US               10000 /* guest time advances in steps of a sixteenth of the run so far, from this ... */
#define LT_TAPE_TICK_MAX_US           250000        /* ... up to this */
#define LT_TAPE_WORK_US               20000         /* during a replay it advances after this much work and 4 steps */
#define LT_TAPE_POLL_US               2000          /* ... of which no more than this is counted between two polls */
#define LT_RUN_STORE_MAX_BYTES        (16 * LT_MIB) /* all store() values of one program */
#define LT_JSSCAN_DEPTH               512 /* nested brackets whose kind is known; a byte each, a few times on our stack */
#define LT_TSERASE_MAX_BYTES          (256 * LT_KIB) /* longer programs go to the type stripper: at worst 30 ms on the loop */
#define LT_TSERASE_DEPTH              200 /* nesting of what can nest, on our stack; what models write has 30 */
#define LT_TSERASE_STEPS              16  /* times that each token may be looked at; what models write takes 2 */
#define LT_TSERASE_ENUMS              64  /* enums of one program, 16 bytes each on our stack */
#define LT_TSERASE_INSERTED_MAX_BYTES (1 * LT_MIB) /* text put into a program; places of such text */

/* --- the box (docs/internals/box.md) ------------------------------------------------------------------------------ */
#define LT_BOX_RESERVE_BYTES     (8 * LT_GIB)   /* 32-bit address + 32-bit offset lands inside */
#define LT_BOX_STACK_BYTES       (16 * LT_MIB)  /* measured need 8.8 MB (deep JSON.parse); untouched pages are free */
#define LT_BOX_GUEST_STACK_BYTES (768 * LT_KIB) /* recursion limit on the guest's own 1 MiB shadow stack */
#define LT_BOX_SPARE_BYTES       (256 * LT_KIB) /* when memory has run out: room for the error that says so */
#define LT_BOX_STACK_KEEP_BYTES  (64 * LT_KIB)  /* of a clean box's two stacks, each; programs seldom need more */
#define LT_BOX_MAX               1024           /* boxes at once; further programs wait for one: 4 mappings each */
#define LT_BOX_POOL_MAX_BYTES    (256 * LT_MIB) /* clean boxes kept after a rush, until unused for a while; then ... */
#define LT_BOX_TRIM              32             /* ... this many are freed at a time, every ... */
#define LT_BOX_TRIM_MS           100
#define LT_BOX_REST_MAX_BYTES    (64 * LT_MIB) /* of a program that waits; with more it stays in its box */
#define LT_BOX_SHELF_BYTES       (12 * LT_KIB) /* memory of a small program that waits: kept for the next */
#define LT_BOX_SHELF_MAX         1024          /* pieces that are kept; unused ones are freed ... */
#define LT_BOX_SHELF_TRIM        128           /* ... so many at a time, every LT_BOX_TRIM_MS */
#define LT_BOX_REST_MS           1000          /* that a program waits before it leaves its box ... */
#define LT_BOX_REST_RUSH_MS      20            /* ... and when nearly all boxes are in use */
#define LT_BOX_AHEAD             8 /* programs in a row: one box is used, the others wait to be unmapped or are ready */
#define LT_BOX_CROWD             8 /* with so many boxes, programs that wait leave theirs at once ... */
#define LT_BOX_CROWD_FREE        4 /* ... until so many are free, ... */
#define LT_BOX_CROWD_BYTES       (256 * LT_KIB) /* ... unless they have grown by more: to copy that costs a new box */
#define LT_BOX_REST_TICK_MS      100            /* how often waiting programs are looked at */
#define LT_BOX_POOL_KEEP         64             /* ... down to this many: 0.2 to 0.6 MB each */
#define LT_RANDOM_MAX_BYTES      65536          /* crypto.getRandomValues at once: Web Cryptography, section 10.1.1 */
#define LT_WEB_MAX               512            /* boxes with the globals of the web: 1.5 MB each ... */
#define LT_WEB_POOL_KEEP         32             /* ... of which so many are kept */
#define LT_INTL_MAX              256            /* boxes with Intl */
#define LT_INTL_POOL_KEEP        8
#define LT_STRIP_MAX             64 /* boxes with the type stripper: 3 MB each, and nothing waits in them */
#define LT_STRIP_POOL_KEEP       4

/* --- workers ------------------------------------------------------------------------------------------------------ */
#define LT_WORKER_SLICE_MS    10  /* a program gives way to others after this long */
#define LT_WORKER_BRIEF_US    200 /* ... and on the loop's own thread after this long: a worker goes on with it */
#define LT_WORKER_LATE_MS     2   /* ... and after this long without a poll another thread turns the loop */
#define LT_WORKER_RESUMED_MAX 15  /* programs in a row that continue, before one that begins has its turn */
#define LT_WORKER_STUCK_MS    25  /* when a step has not polled for this long, another worker takes over its queue */
#define LT_WORKERS_MAX        256 /* threads that run programs ... */
#define LT_WORKER_EXTRA_MAX   32  /* ... of which so many are beyond one per core, for steps that never poll */
#define LT_WORKER_CHORES_MAX  8   /* boxes with much memory to unmap; more are more memory for one program at a time */
#define LT_WATCHDOG_TICK_MS   1   /* how often running steps are looked at */
#define LT_WATCHDOG_GRACE_MS  2   /* from the interrupt request to making the memory inaccessible */
#define LT_WATCHDOG_NUDGE_MS  10  /* ... and to a signal, for code that loops without touching memory */

/* --- processes and MCP servers ------------------------------------------------------------------------------------ */
#define LT_OPEN_FILES_MAX            (LT_KIB * LT_KIB) /* the hard limit is used up to this: the kernel's tables are that long */
#define LT_PROC_STDERR_KEEP_BYTES    (16 * LT_KIB) /* the last of a server's stderr, for error reports */
#define LT_PROC_KILL_AFTER_MS        500           /* from end of input to SIGTERM, and from SIGTERM to SIGKILL */
#define LT_PROC_READ_BYTES           (64 * LT_KIB)
#define LT_PROC_WRITE_QUEUE_BYTES    (1 * LT_MIB) /* waiting for a child's stdin before writers wait too */
#define LT_PROC_LINES_KEEP_BYTES     (1 * LT_MIB) /* an empty line buffer larger than this is given back */
#define LT_PROC_GIVE_UP_MS           2000         /* from SIGKILL to no longer waiting for the child's exit */
#define LT_PROC_EXIT_GRACE_MS        1000 /* from the end of a child's stdout to its exit, to say how it ended */
#define LT_PROC_PATH_MAX_BYTES       (4 * LT_KIB) /* a command's resolved name: the kernel's PATH_MAX */
#define LT_PROC_FILE_BYTES           (1 * LT_MIB) /* of a file in /proc: one that has a line for each processor is long */
#define LT_PROC_TREE_MAX             16384        /* processes of the system that are looked at for a sum of memory */
#define LT_MCP_START_TIMEOUT_MS      30000        /* handshake and first tool list; npx may have to download */
#define LT_MCP_CALL_TIMEOUT_MS       120000       /* a call without a program's deadline over it */
#define LT_MCP_LINE_MAX_BYTES        (64 * LT_MIB) /* one message */
#define LT_MCP_NOISE_LINES_MAX       1000          /* lines that are not JSON-RPC, before a server is given up */
#define LT_MCP_PAGES_MAX             1000          /* pages of tools/list */
#define LT_MCP_TOOLS_MAX             10000         /* tools of one server */
#define LT_MCP_TOOL_NAME_MAX_BYTES   512           /* a glob's time grows with the name it is tried on */
#define LT_MCP_SERVER_NAME_MAX_BYTES 128
#define LT_MCP_RESTARTS_MAX          3     /* restarts of a crashing server ... */
#define LT_MCP_RESTART_WINDOW_MS     60000 /* ... within this long, then it is left down */
#define LT_MCP_SERVERS_MAX           256
#define LT_MCP_MESSAGE_MEMORY_BYTES  LT_GIB         /* one message read: its text and an index of up to 8 times that */
#define LT_MCP_QUEUE_MAX_BYTES       (256 * LT_MIB) /* messages to one server that it has not read yet */
#define LT_MCP_OFFLOAD_BYTES         LT_MIB         /* longer messages are parsed and checked off the loop */
#define LT_MCP_LIST_MAX_BYTES        (64 * LT_MIB)  /* names, descriptions and schemas of one server's tools */
#define LT_MCP_IDLE_TIMEOUT_MS       (15 * 60 * 1000)       /* without a call, until a server is stopped */
#define LT_MCP_IDLE_TIMEOUT_MAX_MS   (7 * 24 * 3600 * 1000) /* the most that the configuration may say */
#define LT_MCP_LIST_FRESH_MS         (3600 * 1000)      /* a list of tools of the last time that is as good as new */
#define LT_MCP_LIST_KNOWN_MS         (24 * 3600 * 1000) /* an older list is not used */
#define LT_MCP_LIST_REFRESH_MS       2000 /* a process that lives so long renews lists that are not fresh */
#define LT_MCP_LISTS_KEPT_MS         (30L * 24 * 3600 * 1000) /* a file with an older list is deleted */
#define LT_MCP_RELIST_GAP_MS         100 /* from one listing to the next, however often the server says it has changed */
#define LT_SESSION_BYTES_MAX         (16 * LT_MIB) /* what a session keeps: variables and values */
#define LT_SESSIONS_MAX              64 /* of a user; a further one replaces the one that was used least lately */
#define LT_SESSION_KEPT_DAYS         7  /* without a call, until a session is forgotten */
#define LT_SESSION_NAME_BYTES        64
#define LT_MCP_MEASURE_TIMEOUT_MS    5000 /* for the answer whose time `lathe servers` shows */
#define LT_MCP_DOWN_RETRY_MS         1000 /* until a server that could not be started is tried again at a call; doubles ... */
#define LT_MCP_DOWN_RETRY_MAX_MS     60000 /* ... up to this */
#define LT_MCP_RESTART_DELAY_MS      50    /* before the first restart in a row; doubles */
#define LT_MCP_EXIT_WAIT_MS          200   /* after a server closes its input, until the server counts as ended */
#define LT_MCP_SESSION_ID_MAX_BYTES  (4 * LT_KIB) /* of a session over HTTP, and of an event */
#define LT_MCP_HEADERS_MAX           128          /* of a request over HTTP: ours, the configuration's, a tool's */
#define LT_MCP_ANSWER_MS             86400000     /* for an answer over HTTP: the call's own deadline comes before */
#define LT_MCP_GOODBYE_MS            1000 /* for the end of a session over HTTP, and for the rest of an answer */
#define LT_MCP_TRIES_MAX             3 /* of a request that is redirected, or answered with "too many requests" ... */
#define LT_MCP_RETRY_AFTER_MAX_MS    10000  /* ... when the server names a time up to this */
#define LT_MCP_RETRY_MS              1000   /* from the end of an event stream to asking for the rest of it ... */
#define LT_MCP_RETRY_MAX_MS          60000  /* ... however long the server wants it to be */
#define LT_MCP_RESUMES_MAX           8      /* streams in a row that end without an event */
#define LT_MCP_LOST_WAIT_MS          500    /* after a session is lost: for the answers that are under way */
#define LT_MCP_PROBE_MS              3000   /* for server/discover; then an older protocol is tried */
#define LT_MCP_PROBE_HTTP_MS         10000  /* the same over HTTP */
#define LT_MCP_LOG_MESSAGES_MAX      10     /* messages of a server's log that are shown */
#define LT_MCP_ROUNDS_MAX            16     /* answers in a row to one call that want more input */
#define LT_MCP_INPUTS_MAX            32     /* questions in one such answer */
#define LT_SAMPLING_REQUESTS         10     /* of a server to the model, in one run */
#define LT_SAMPLING_REQUESTS_MAX     10000  /* as the configuration may say */
#define LT_SAMPLING_TOKENS           4096   /* of an answer to a server */
#define LT_SAMPLING_TOKENS_MAX       200000 /* as the configuration may say */
#define LT_SAMPLING_RUNS_MAX         256    /* whose requests are counted; the oldest is forgotten */
#define LT_SAMPLING_MESSAGES_MAX     1000   /* in one request */
#define LT_FORM_FIELDS_MAX           50     /* of a server's question at the terminal */
#define LT_FORM_CHOICES_MAX          200    /* of a field */
#define LT_MCP_QUESTIONS_MAX         16     /* of a server, open at once */
#define LT_MCP_LATE_IDS              256    /* abandoned calls whose late results are still recognised */
#define LT_MCP_WORDS_READ_BYTES      (64 * LT_KIB) /* of a server's own error text: the part that is examined ... */
#define LT_MCP_WORDS_MAX_BYTES       640           /* ... and this much shown: with our own text it fits an lt_err */

/* --- logins to MCP servers (mcp/mcp_auth.h) ----------------------------------------------------------------------- */
#define LT_MCP_AUTH_BODY_MAX_BYTES   (256 * LT_KIB) /* an answer of an authorization server */
#define LT_MCP_AUTH_MEMORY_BYTES     (8 * LT_MIB)   /* such answers with their indexes; or what is kept of them */
#define LT_MCP_AUTH_FILE_MAX_BYTES   LT_MIB         /* tokens of a server as they are kept */
#define LT_MCP_AUTH_SCOPES_MAX_BYTES (16 * LT_KIB)
#define LT_MCP_AUTH_ANSWER_MS        15000 /* for an answer of an authorization server, and between its pieces */
#define LT_MCP_AUTH_LOGIN_MS         (10 * 60 * 1000)   /* for a person to log in */
#define LT_MCP_AUTH_LOGIN_MAX_MS     (24 * 3600 * 1000) /* the most that the command line may say */
#define LT_MCP_AUTH_LOCK_MS          45000              /* for another process to renew the same tokens ... */
#define LT_MCP_AUTH_LOCK_TRY_MS      20                 /* ... looked at so often */
#define LT_MCP_AUTH_EARLY_S          30                 /* a token is renewed so long before it expires */
#define LT_MCP_AUTH_CONNECTIONS_MAX  16 /* of browsers, at the port that waits for the answer to a login */

/* --- walls around processes (jail/jail.h) ------------------------------------------------------------------------- */
#define LT_JAIL_PATHS_MAX        64   /* --read and --write paths of one jail, each */
#define LT_JAIL_CORE_BYTES       1    /* no core dump is so small; 0 would still hand it to a program of the system */
#define LT_JAIL_SOCKET_MAX_BYTES 108  /* sockaddr_un's, with the NUL */
#define LT_JAIL_GATE_WAIT_MS     5000 /* for the other end to take a connection */
#define LT_JAIL_FILTER_MAX_BYTES (16 * LT_KIB) /* a filter: half of the kernel's 4096 instructions */

/* --- HTTP (io/http.h) --------------------------------------------------------------------------------------------- */
#define LT_HTTP_CONNECT_MS        15000          /* name, connection and TLS together */
#define LT_HTTP_ANSWER_MS         300000         /* from sending to the answer's head: models think before they speak */
#define LT_HTTP_IDLE_MS           120000         /* between pieces of a body */
#define LT_HTTP_BUFFER_BYTES      (256 * LT_KIB) /* of a body that is not read yet; then the peer has to wait */
#define LT_HTTP_PIECE_BYTES       (128 * LT_KIB) /* what libcurl hands over at once, at most */
#define LT_HTTP_HEAD_MAX_BYTES    (256 * LT_KIB) /* of an answer's head */
#define LT_HTTP_URL_MAX_BYTES     (8 * LT_KIB)
#define LT_HTTP_HEADERS_MAX_BYTES (64 * LT_KIB) /* of a request */
#define LT_HTTP_BODY_MAX_BYTES    (64 * LT_MIB) /* of a request */
#define LT_HTTP_CONNECTIONS_MAX   4096          /* at once, if that many files may be open */
#define LT_HTTP_MULTI_STREAMS     64            /* and connections, of one multi handle of libcurl */
#define LT_HTTP_MULTIS_MAX        (LT_HTTP_CONNECTIONS_MAX / LT_HTTP_MULTI_STREAMS)
#define LT_HTTP_SOCKET_LISTS      64    /* lists in which a multi handle finds its sockets by their numbers */
#define LT_HTTP_UNUSED_MS         60000 /* after which connections are closed; at the latest after twice that */

/* --- HTTP served (io/http_server.h) ------------------------------------------------------------------------------- */
#define LT_HTTP_SERVER_CONNECTIONS_MAX 1024          /* at once; further ones wait in the kernel's queue */
#define LT_HTTP_SERVER_LOOK_MS         1000          /* between looks for clients that are gone; an answer needs none */
#define LT_HTTP_SERVER_HEAD_BYTES      (32 * LT_KIB) /* of a connection's buffer, for a head or a piece of a body */
#define LT_HTTP_SERVER_FORGET_BYTES    (64 * LT_KIB) /* of the body of a request that is refused by its head */
#define LT_HTTP_STREAM_MAX_BYTES       (128 * LT_MIB) /* unsent, of one answer in pieces: two of the longest messages */
#define LT_HTTP_STREAMS_MAX_BYTES      LT_GIB         /* ... and of all of one server */
#define LT_HTTP_STREAM_BLOCK_BYTES     (4 * LT_KIB)   /* that are handed to the connection at once */

/* --- models (model/model.h) --------------------------------------------------------------------------------------- */
#define LT_MODEL_CONTEXT_MIN        1024         /* models[].contextTokens: less has no room for tools */
#define LT_MODEL_CONTEXT_MAX        8000000      /* ... half of it as text is half of LT_PROMPT_MESSAGES_BYTES */
#define LT_MODEL_MAX_TOKENS         4096         /* of an answer unless asked otherwise */
#define LT_MODEL_TRIES_MAX          6            /* for one completion: about 15 s of waiting between them ... */
#define LT_MODEL_CONNECT_TRIES_MAX  3            /* ... and, when no connection is made, less than 2 s */
#define LT_MODEL_BACKOFF_MS         500          /* the longest first wait; the next ones are longer, doubling ... */
#define LT_MODEL_BACKOFF_MAX_MS     16000        /* ... up to this */
#define LT_MODEL_RETRY_AFTER_MAX_MS 60000        /* when a provider asks for a longer wait, the completion fails */
#define LT_MODEL_LAST_MS            2000         /* from the finish reason to the usage, which may never arrive */
#define LT_MODEL_TAIL_MS            100          /* from the end of the events to the end of the answer */
#define LT_MODEL_QUIET_MAX_BYTES    (4 * LT_MIB) /* of a stream with comments and empty events, and nothing between */
#define LT_MODEL_TEXT_MAX_BYTES     (8 * LT_MIB) /* of one answer: text, and likewise reasoning, arguments of a call */
#define LT_MODEL_LEAD_MAX_BYTES     LT_KIB /* of white space before its text; reasoning begins within it or never */
#define LT_MODEL_EVENT_MAX_BYTES    (16 * LT_MIB) /* one event; and an answer that is not streamed */
#define LT_MODEL_MEMORY_BYTES       (64 * LT_MIB) /* what is kept of one answer; and the index of one event */
#define LT_MODEL_CALLS_MAX          1024          /* calls that one answer asks for */
#define LT_MODEL_PARTS_MAX          4096          /* texts, calls and thoughts of one answer, in their order ... */
#define LT_MODEL_KEPT_MAX_BYTES     (16 * LT_MIB) /* ... and their size */
#define LT_MODEL_TOKENS_MAX         1000000000000 /* that a provider may say it has counted; more is nonsense */
#define LT_MODEL_CACHE_KEY_BYTES    64            /* of a conversation's id, as a key of the provider's cache */
#define LT_MODEL_HEADERS_MAX        16            /* that a configuration adds to its requests */
#define LT_MODEL_TIMEOUT_MAX_MS     3600000       /* that a configuration may set: an hour */
#define LT_MODELS_NAMED_MAX         32            /* "provider/name" that no configuration has, in one process */
#define LT_MODEL_NAMES_MS           5000          /* to ask a provider which models it has, after one it does not ... */
#define LT_MODEL_NAMES_BYTES        LT_MIB        /* ... and of that list */
#define LT_MODEL_NAMES_SHOWN        8
#define LT_MODEL_ERROR_BYTES        (64 * LT_KIB) /* of an error's body that is read ... */
#define LT_PROVIDER_ERROR_BYTES     400           /* ... and of its words that are shown */
#define LT_MODEL_QUIRKS_MAX         64            /* models whose deviations are remembered */

/* --- configuration ------------------------------------------------------------------------------------------------ */
#define LT_CONFIG_MAX_BYTES        (4 * LT_MIB)
#define LT_CONFIG_DEPTH_MAX        64
#define LT_CONFIG_NODES_MAX        100000         /* after aliases: a YAML bomb ends here */
#define LT_CONFIG_ANCHORS_MAX      256            /* looked up one by one */
#define LT_TRUST_BYTES             LT_MIB         /* the list of trusted files */
#define LT_INSTRUCTIONS_FILE_BYTES (64 * LT_KIB)  /* of an AGENTS.md: each request to a model has all of it ... */
#define LT_INSTRUCTIONS_BYTES      (256 * LT_KIB) /* ... and of all instructions */
#define LT_CONFIG_REVIEW_BYTES     (16 * LT_MIB) /* what an untrusted file wants, as text: each byte may take several */
#define LT_CONFIG_WARNINGS_MAX     50            /* shown at one start */
#define LT_CONFIG_MEMORY_BYTES     (64 * LT_MIB) /* the trees of the files and what is kept of them */

/* --- files of other MCP clients ----------------------------------------------------------------------------------- */
#define LT_CLIENT_FILE_BYTES   (32 * LT_MIB)  /* Claude Code keeps its history in the same file */
#define LT_CLIENT_MEMORY_BYTES (512 * LT_MIB) /* such a file without comments, its index, and what is read of it */

/* --- tools -------------------------------------------------------------------------------------------------------- */
#define LT_TOOLS_MAX             20000 /* tools of all providers */
#define LT_TOOL_SUGGESTIONS      3     /* "did you mean": how many names */
#define LT_TOOL_LISTED_MAX       20    /* names or values in an error message; the rest is only counted */
#define LT_TOOL_INPUT_ERRORS_MAX 10    /* faults of one input that are reported together */
#define LT_CATALOG_MAX_BYTES \
  (1 * LT_GIB) /* all texts of one snapshot: far above real ones, a stop for broken servers */
#define LT_CALL_INLINE_BYTES     (1 * LT_MIB) /* inputs and answers over this are read off the loop */
#define LT_CALL_INDEX_MAX_BYTES  (1 * LT_GIB) /* working memory of one call: the index of the longest possible input */
#define LT_PROVIDERS_MAX         1024         /* servers and plugins with tools */
#define LT_SOURCES_GONE_MAX      10000        /* servers removed or replaced by SIGHUP: each leaves some KiB */
#define LT_SECRETS_MAX           16384        /* values and parts of values that are masked, in each of their forms */
#define LT_SECRET_WORD_BYTES     8  /* a part of letters only that is shorter is an ordinary word ("latest") */
#define LT_SECRET_TOKEN_BYTES    20 /* the user of a URL without a password is a token if it is as long */
#define LT_SECRET_DEPTH_MAX      3  /* credentials inside "Basic " inside a member of a JSON secret */
#define LT_SECRET_JSON_BYTES     (1 * LT_MIB) /* memory to read one secret that is JSON */
#define LT_SECRET_CUT_BYTES      8    /* this much of a secret's beginning, before a cut, counts as the secret */
#define LT_SECRET_MIN_BYTES      6    /* a shorter value ("true", "8080") would make holes in ordinary text */
#define LT_ANSWER_MEDIA_MAX      100  /* images and other media of one result that are kept */
#define LT_DOOR_TOLD_MAX         256  /* different warnings of one door; further ones are dropped */
#define LT_CALLER_DEPTH_MAX      8    /* programs that tools of programs run */
#define LT_EDITS_MAX             20   /* edited inputs of one call that cannot be used; then the call fails */
#define LT_DECISION_WAIT_MS      5000 /* how long lathe approve waits until another process has taken a decision */
#define LT_DECISION_POLL_MS      100  /* how often other processes' decisions are looked for while a call waits ... */
#define LT_DECISION_IDLE_POLL_MS 500  /* ... and while a prompt only runs */
#define LT_EDIT_SHOWN_BYTES      2000 /* of an edited input, towards the model */
#define LT_REMEMBERED_MAX        1024 /* decisions that hold for later calls, of a run, prompt or conversation */
#define LT_REMEMBERED_BYTES      (16 * LT_MIB)  /* of their texts */
#define LT_PROMPT_DATA_BYTES     (256 * LT_KIB) /* what a program may leave to later prompts: complete({data}) */
#define LT_ANSWER_MAX_BYTES      (32 * LT_KIB)  /* towards a model; a longer value becomes an artifact ... */
#define LT_ANSWER_PREVIEW_BYTES  (4 * LT_KIB)   /* ... with this much of its beginning as a preview */

/* --- policy and budgets (docs/guide/policy.md) -------------------------------------------------------------------- */
#define LT_POLICY_RULES_MAX        1000         /* rules of a layer, likewise budgets: gone through at each call */
#define LT_POLICY_MATCH_MAX_BYTES  (1 * LT_KIB) /* a glob on tool ids */
#define LT_POLICY_REASON_MAX_BYTES (1 * LT_KIB)
#define LT_POLICY_WHEN_MAX_BYTES   (16 * LT_KIB) /* a condition's text; its literals are made to JSON on the way */
#define LT_POLICY_NODES_MAX        1000          /* parts of a condition */
#define LT_POLICY_DEPTH_MAX        32            /* parentheses in parentheses: recursion on a fiber's stack */
#define LT_POLICY_MEMORY_BYTES     (64 * LT_MIB) /* all rules compiled */
#define LT_POLICY_STEPS_MAX        1000000 /* of work on one call, about 10 ns each; then every condition is unknown */
#define LT_POLICY_STEP_BYTES       16      /* of text per step */
#define LT_POLICY_WORK_BYTES       (16 * LT_MIB) /* strings of one call with their escapes undone */
#define LT_POLICY_SHOWN_MAX        16            /* rules of a layer shown for one tool */
#define LT_POLICY_UNMATCHED_MAX    10            /* warnings of rules that fit no tool */
#define LT_POLICY_NEAR_MAX_BYTES   256           /* of a glob and an id that are compared for a typing error */
#define LT_BUDGET_RATE_MAX         100000        /* calls per minute: 8 bytes are kept for each call of the last 60 s */

/* --- the store ---------------------------------------------------------------------------------------------------- */
#define LT_DB_BUSY_MS           5000                /* waiting for another process that writes to the same file */
#define LT_DB_RETRY_MS          10                  /* between two tries to open a file that others are opening, too */
#define LT_DB_WAL_KEEP_BYTES    (16 * LT_MIB)       /* a longer log is cut after its content is in the file */
#define LT_DB_LOG_GATHER_BYTES  (64 * LT_KIB)       /* of a commit, written to the log at once */
#define LT_DB_GROUP_MAX         256                 /* jobs in one transaction */
#define LT_DB_GROUP_MIN         32                  /* jobs for which a group begins while others may join it */
#define LT_DB_GROUPS_APART      8                   /* on the store's thread, after one that kept the loop's too long */
#define LT_DB_STATEMENTS_KEPT   256                 /* places for prepared statements: more than there are texts */
#define LT_DB_KNOWN_KEPT        4096                /* places for what is known of prompts and runs */
#define LT_DB_KNOWN_NAME_BYTES  64                  /* of such a name; of a longer one nothing is kept */
#define LT_LEASE_BEAT_MS        3000                /* between two signs of life of a process that runs prompts */
#define LT_LEASE_GONE_MS        15000               /* without one, a process in another container counts as gone ... */
#define LT_LEASE_WATCH_MS       4500                /* ... after it was watched for so long: more than one beat */
#define LT_LEASE_FORGET_MS      (24L * 3600 * 1000) /* when the sign of life of a process without prompts is deleted */
#define LT_DB_REST_MS           2              /* how long a job without a waiter is delayed, to share a transaction */
#define LT_NOTES_QUEUE_BYTES    (256 * LT_MIB) /* run deliveries that are not yet written; further ones are dropped */
#define LT_NOTES_EFFECTS        256            /* places to count the queued ends of calls by their prompts */
#define LT_NOTES_END_BYTES      (64 * LT_KIB)  /* a longer answer of a call with an effect is waited for */
#define LT_NOTES_LOST_MAX       256            /* runs with dropped notes: their calls are refused */
#define LT_RECORD_MAX_BYTES     (1 * LT_GIB)   /* the whole record of one run, when it is replayed */
#define LT_RECORD_SHOWN_BYTES   100            /* of a call's input in the message that the record has another input */
#define LT_TAPE_FAULT_BYTES     800            /* how a program diverged from its record */
#define LT_BLOB_MAX_BYTES       (64 * LT_MIB)  /* one text that many prompts share */
#define LT_ARTIFACTS_LISTED_MAX 1000
#define LT_ARTIFACT_ABOUT_BYTES (8 * LT_KIB) /* of its description, type, or MIME type: a list of all must fit */
#define LT_ARTIFACTS_RUN_MB     128UL        /* all artifacts of one run or prompt: a program fills 70 MB in a second */
#define LT_ARTIFACTS_STORE_MB   4096UL       /* all artifacts of a database */
#define LT_ARTIFACTS_MAX_MB     (1024UL * 1024) /* the most that the configuration may allow of either */
#define LT_TRIM_ROWS            1000            /* removed in one transaction, and at the end of a command ... */
#define LT_TRIM_BYTES           (32 * LT_MIB)   /* ... of artifacts, unless one alone has more */
#define LT_RETENTION_MAX_DAYS   36500           /* a hundred years */
#define LT_SQL_ROWS_MAX_BYTES   (16 * LT_MIB)   /* rows of one statement of a plugin's, as JSON */
#define LT_STATE_MAX_BYTES      (1 * LT_MIB)    /* a plugin's state for one conversation */
#define LT_SQL_RUNTIME_MS       5000            /* one statement of a plugin's: others wait for it */
#define LT_SQL_ID_MAX_BYTES     63              /* id of a plugin with tables, and what is shown of a table's name */
#define LT_SQL_CTES_MAX         16              /* WITH names of one statement of which only rows are counted */
#define LT_SQL_TEXT_MAX_BYTES   (1 * LT_MIB)    /* a statement or a script of a plugin's */
#define LT_SQL_PARAMS_MAX_BYTES (16 * LT_MIB)   /* its parameters, as JSON; and any one value that it makes */

/* --- the gateway over HTTP (gateway/gateway_http.h) -------------------------------------------------------------- */
#define LT_GATEWAY_PORT            8421           /* of `lathe mcp --http`, unless it is told otherwise */
#define LT_GATEWAY_SESSIONS_MAX    1000           /* over HTTP, at once */
#define LT_GATEWAY_SESSION_IDLE_MS (3600 * 1000)  /* without a request, until a session is ended */
#define LT_GATEWAY_USER_BYTES      256            /* of a user's name */
#define LT_GATEWAY_STREAM_BYTES    (16 * LT_MIB)  /* of one stream's messages that nobody reads */
#define LT_GATEWAY_STREAMS_KEPT    16             /* of one session, after their end: for clients that come back */
#define LT_GATEWAY_UNSENT_BYTES    LT_MIB         /* on a connection; then the client has to read first ... */
#define LT_GATEWAY_UNREAD_MS       60000          /* ... within this time */
#define LT_GATEWAY_HEARTBEAT_MS    15000          /* between two signs of life on a stream without messages */
#define LT_GATEWAY_SILENCE_MS      5000           /* before an answer, until it becomes a stream with signs of life */
#define LT_GATEWAY_RETRY_MS        1000           /* that a client waits before it comes back for a stream */
#define LT_GATEWAY_TOKEN_MIN_BYTES 16             /* of a token: a shorter one is guessed */
#define LT_GATEWAY_BODIES_BYTES    (512 * LT_MIB) /* of all requests over HTTP that are received or answered */

/* --- the gateway (src/gateway) ------------------------------------------------------------------------------------ */
#define LT_GATEWAY_REQUESTS_MAX      1024         /* of all clients, at once */
#define LT_GATEWAY_PEER_BYTES        (4 * LT_MIB) /* of what one client says about itself */
#define LT_GATEWAY_STATES_MAX        1024         /* runs that a client was asked about and may come back to */
#define LT_GATEWAY_KEY_BYTES         100          /* what a server calls its question */
#define LT_GATEWAY_QUESTION_BYTES    8000  /* of the input in a question to a client; a longer one is not asked there */
#define LT_GATEWAY_WAIT_MS           45000 /* then a call is answered with "not done": clients give up at 60 s */
#define LT_GATEWAY_PAGE_BYTES        8000  /* of one answer: no client that was measured cuts it */
#define LT_GATEWAY_TEXT_BYTES        (256 * LT_KIB)  /* a description */
#define LT_GATEWAY_SERVERS_BYTES     1500            /* names of servers in a description; then "and more" */
#define LT_GATEWAY_LISTING_TOKENS    3000            /* the listing of tools: some clients cut at 16,300 characters */
#define LT_GATEWAY_INPUT_SHOWN_BYTES 2000            /* of a call that waits for approval */
#define LT_GATEWAY_SUBSCRIPTIONS_MAX 1000            /* of all clients, to resources */
#define LT_GATEWAY_IMAGE_BYTES       (1 * LT_MIB)    /* of an image that a client gets with a run's answer ... */
#define LT_GATEWAY_IMAGES_BYTES      (4 * LT_MIB)    /* ... and of all of them, in base64 */
#define LT_GATEWAY_NAME_CHARS        64              /* of a tool or prompt of a server: models' APIs take no more */
#define LT_GATEWAY_LIST_TTL_MS       (5 * 60 * 1000) /* how long a client may keep our list of tools */

/* --- traces (docs/internals/tracing.md) --------------------------------------------------------------------------- */
#define LT_TRACE_STATE_BYTES        512 /* of a tracestate: W3C wants so many passed on; a longer one is left out */
#define LT_TRACE_STATE_MEMBERS_MAX  32  /* W3C Trace Context, section 3.3.1.1 */
#define LT_TRACE_TEXT_BYTES         (4 * LT_KIB)  /* of one attribute */
#define LT_TRACE_HEADERS_MAX        32            /* of a request to a collector, beside ours */
#define LT_TRACE_RESOURCE_BYTES     (64 * LT_KIB) /* of the attributes of the process */
#define LT_TRACE_SPAN_BYTES         (64 * LT_KIB) /* of one span, as JSON */
#define LT_TRACE_BATCH_SPANS        512           /* of one request: OTEL_BSP_MAX_EXPORT_BATCH_SIZE's default */
#define LT_TRACE_BATCH_BYTES        LT_MIB        /* the same; collectors take 4 MiB and more */
#define LT_TRACE_QUEUE_SPANS        2048  /* that wait to be sent, then new ones are dropped: OTEL_BSP_MAX_QUEUE_SIZE */
#define LT_TRACE_DELAY_MS           5000  /* for so long spans are collected: OTEL_BSP_SCHEDULE_DELAY's default */
#define LT_TRACE_TIMEOUT_MS         10000 /* of one request: OTEL_EXPORTER_OTLP_TIMEOUT's default */
#define LT_TRACE_TIMEOUT_MAX_MS     600000 /* of what these two variables may ask for */
#define LT_TRACE_TRIES_MAX          5      /* of one request: then its spans are dropped, so that newer ones are sent */
#define LT_TRACE_BACKOFF_MS         1000   /* before the second try; doubled for each further one */
#define LT_TRACE_RETRY_AFTER_MAX_MS 60000  /* that a collector may ask to wait */
#define LT_TRACE_ANSWER_BYTES       (64 * LT_KIB) /* of a collector's answer that are read */
#define LT_TRACE_CLOCK_US           1000000       /* that the system's clock is set by until spans follow it */
#define LT_TRACE_FLUSH_MS           2000          /* that the end of a process waits for its last spans */

/* --- HTTP API (src/serve) ----------------------------------------------------------------------------------------- */
#define LT_SERVE_PORT            8420          /* of `lathe serve`, unless configured otherwise */
#define LT_SERVE_BODY_BYTES      (8 * LT_MIB)  /* of a request: the longest input, with its escapes */
#define LT_SERVE_BODY_MAX_BYTES  (64 * LT_MIB) /* the same, when the configuration wants more */
#define LT_SERVE_CONNECTIONS     12000         /* at once: the readers, and requests beside them */
#define LT_SERVE_CONNECTIONS_FEW 4096          /* fewer are worth a warning */
#define LT_SERVE_ADDRESS_CONNECTIONS                                                                               \
  256                                  /* of one address: browsers have 6 each, and an office may have one address \
                                        */
#define LT_SERVE_USER_RATE       200   /* requests of a user each second: an application may be one user */
#define LT_SERVE_ADDRESS_RATE    20    /* ... of an address that no user is known of: a page with its parts */
#define LT_SERVE_USER_REQUESTS   500   /* requests of a user at once */
#define LT_SERVE_USER_PROMPTS    200   /* prompts of a user that have not ended: each has a sandbox */
#define LT_SERVE_USER_READERS    100   /* streams of events of a user */
#define LT_SERVE_USER_QUEUED     100   /* requests of a user that wait for a conversation */
#define LT_SERVE_QUEUED_MAX      10000 /* ... of all users */
#define LT_SERVE_GUESTS_MAX      16384 /* users and addresses whose rates are known at once */
#define LT_SERVE_PROXIES_MAX     64    /* addresses and networks of server.proxy.from */
#define LT_SERVE_FORWARDED_MAX   32    /* addresses of an X-Forwarded-For that are looked at, from its end */
#define LT_SERVE_BODIES_BYTES    (256 * LT_MIB) /* of all requests that are being received or answered */
#define LT_SERVE_ANSWER_BYTES    LT_GIB
#define LT_SERVE_PAGE_MAX        200   /* entries of one page of a list */
#define LT_SERVE_PAGE            50    /* the same, unless the request says otherwise */
#define LT_SERVE_BUSY_POLL_MS    200   /* between two looks at a conversation that another process is busy with */
#define LT_SERVE_KEY_BYTES       255   /* of an Idempotency-Key */
#define LT_SERVE_TOKENS_MS       250   /* between two looks at the list of tokens */
#define LT_SERVE_TOKENS_STALE_MS 10000 /* for so long a list counts that cannot be read again */
#define LT_SERVE_TOKENS_BYTES    (64 * LT_MIB) /* of all tokens' hashes and users */
#define LT_SERVE_USER_BYTES      128           /* of a user's name */
#define LT_SERVE_WAIT_MS         30000 /* that POST /run and calls of tools wait for their end, unless told otherwise */
#define LT_SERVE_WAIT_MAX_MS     600000
#define LT_SERVE_ORPHANS_MS      1000 /* between two looks for prompts whose process has ended */
#define LT_SERVE_UNRESUMED_BYTES                                                       \
  (1 * LT_MIB) /* ids of prompts that cannot be resumed here: of more it is said again \
                */
#define LT_SERVE_GRACE_MS                                                                     \
  5000 /* that running prompts have to end when the server is asked to end, unless configured \
        */
#define LT_SERVE_GRACE_MAX_MS     600000
#define LT_SERVE_HEARTBEAT_MS     15000          /* between two signs of life on a stream without events */
#define LT_SERVE_READER_BYTES     (256 * LT_KIB) /* of events that wait for a slow reader; further ones it reads later */
#define LT_SERVE_READERS_MAX      10000          /* streams of events at once */
#define LT_SERVE_READERS_BUCKETS  1024           /* of readers that want one prompt's events */
#define LT_SERVE_QUEUE_BYTES      (64 * LT_MIB) /* of events that wait to be stored: then pieces of texts are left out */
#define LT_PAGE_FILE_BYTES        (4 * LT_MIB)  /* of a file of `--page FOLDER` */
#define LT_STORE_ROOM_BYTES       LT_MIB        /* left on its disk, for a store that can be written */
#define LT_SERVE_RELOADS_MAX      1000          /* of a process: each keeps its configuration, a few KiB, to the end */
#define LT_REPORT_FACTS_MAX       12            /* of a line of the log */
#define LT_SERVICE_LOG_LINE_BYTES 4032 /* of a line of lathe serve's log: a pipe takes PIPE_BUF (4,096) at once */
#define LT_SERVICE_LOG_CUT_BYTES  512  /* of the message of a longer one, which JSON may escape with 6 bytes each */
#define LT_REPORT_NOTE_BYTES      (64 * LT_KIB) /* of its texts: an error message has a few */
#define LT_METRIC_VALUE_BYTES     128           /* of a label's value: tools have names of 64 characters */
#define LT_METRICS_TOOLS          512           /* pairs of tool and outcome that are told apart */
#define LT_METRICS_MODELS         64            /* models, and modes, that are told apart */
#define LT_METRICS_ROUTES         1024          /* pairs of route and status */
#define LT_EVENTS_KEPT            100000        /* events in the store */
#define LT_EVENTS_READ            256           /* events that are read at once ... */
#define LT_EVENTS_UNENDED_MS      1000          /* after a prompt's end: then another server tells it, if nobody has */
#define LT_EVENTS_READ_BYTES      (4 * LT_MIB)  /* ... and about how many bytes of them */

/* --- prompts (src/agent) ------------------------------------------------------------------------------------------ */
#define LT_AGENT_BUCKETS           256 /* of running prompts, by the hash of their ids */
#define LT_ROUNDS_CLASSIC          25  /* asking the model, per prompt, unless configured otherwise */
#define LT_ROUNDS_CODE             10
#define LT_ROUNDS_TYPESCRIPT       25
#define LT_ROUNDS_CODEX            25
#define LT_ROUNDS_MAX              1000
#define LT_CLASSIC_TOOLS_MAX       10    /* with more, `lathe chat` begins in code mode: it costs less from here on */
#define LT_CELLS_MAX               16    /* programs of one prompt in mode codex that run at once */
#define LT_CELL_YIELD_MS           10000 /* of one of them until its model is asked, unless it says otherwise */
#define LT_CELL_DECISION_MS        1000  /* likewise after that while a person is asked */
#define LT_CELL_SETTLE_MS          100   /* after what it says: its end often follows, and is told with it */
#define LT_CELL_TOKENS             10000 /* of one answer about it, unless the model says otherwise */
#define LT_CELL_TOKENS_MAX         100000
#define LT_CELL_OUTPUT_BYTES       (8 * LT_MIB)   /* what it says, images included */
#define LT_PROMPT_INPUT_BYTES      (4 * LT_MIB)   /* what a user says */
#define LT_PROMPT_MEMORY_BYTES     (256 * LT_MIB) /* ids and texts of one prompt */
#define LT_PROMPT_OUTPUTS_MAX      10000 /* outputs of one prompt: further ones of its programs are not recorded */
#define LT_PROMPT_RECORD_BYTES     (64 * LT_MIB) /* of all outputs of one prompt; then only their beginnings are kept */
#define LT_PROMPT_QUEUE_BYTES      (256 * LT_MIB) /* answers that wait to be stored; of more, only their beginnings */
#define LT_OUTBOX_BATCH            64             /* outputs and events of one prompt that are stored together ... */
#define LT_OUTBOX_BATCH_BYTES      LT_MIB         /* ... unless one alone has more */
#define LT_OUTBOX_REST_MS          2 /* what programs say and call comes in flocks: for so long it may gather */
#define LT_PROMPT_MESSAGES_BYTES   (64 * LT_MIB)  /* what a model is sent */
#define LT_SYSTEM_KEPT_BYTES       (256 * LT_KIB) /* of a system prompt whose message is kept for the next prompt */
#define LT_DRAIN_POLL_MS           50             /* between two looks at prompts that may end before the process */
#define LT_PROGRAM_DRAFTS_MAX      8              /* programs of one reply that are shown while they are written */
#define LT_DEFERRED_RECORD_BYTES   LT_MIB /* record of a prompt that is not stored yet; a longer one is stored */
#define LT_DEFERRED_CALLS_MAX      1000   /* likewise its read-only calls */
#define LT_DEFERRED_OUTPUT_BYTES   LT_GATEWAY_PAGE_BYTES /* likewise its outputs: what is read in pieces is stored */
#define LT_ATTACHMENTS_MAX         20                    /* files that a user sends with one message */
#define LT_ATTACHMENTS_BYTES       (10 * LT_MIB)         /* of all of them: half of LT_MEDIA_REQUEST_BYTES */
#define LT_ATTACHMENT_IMAGE_BYTES  (3840 * LT_KIB)       /* an image: Anthropic takes 5 MB of it, written as base64 */
#define LT_ATTACHMENT_TEXT_BYTES   (512 * LT_KIB)        /* a text: each later request has all of it */
#define LT_ATTACHMENT_NAME_BYTES   255                   /* as file systems have it */
#define LT_MEDIA_REQUEST_BYTES     (20 * LT_MIB) /* images and documents in a request: providers take 32 MB ... */
#define LT_MEDIA_REQUEST_MAX       40            /* ... and how many: of more, the oldest are left out */
#define LT_MEDIA_TOKENS            1600          /* of an image, where nobody counts: a large one for most models */
#define LT_SUMMARY_KEPT_SHARE      4             /* of the history a summary leaves a quarter: the next one is far */
#define LT_PROMPT_LATE_MS          500           /* before an end that could not be stored is tried again, ... */
#define LT_PROMPT_LATE_MAX_MS      8000          /* ... twice as long each time, up to this */
#define LT_PROMPT_HISTORY_MAX      1000          /* earlier prompts of a conversation that are read */
#define LT_HISTORY_TOKENS          64000         /* earlier prompts, where a model's context is not known: half of it */
#define LT_HISTORY_PART_BYTES      (32 * LT_KIB) /* of them a call's answer, a program, its feedback: each ... */
#define LT_HISTORY_SHORT_BYTES     400           /* ... and so much when they are shortened */
#define LT_HISTORY_INLINE_BYTES    (128 * LT_KIB) /* a longer one is read off the loop: about 1 ms */
#define LT_SHORTER_TOKENS          150            /* of an answer in a prompt that its model refuses for its length */
#define LT_TOOL_DEFINITIONS_INLINE 100            /* definitions of more tools are written off the loop: about 1 ms */
#define LT_HISTORY_MEMORY_BYTES    (512 * LT_MIB) /* to read them: the index of the longest text, and names of tools */
#define LT_TYPESCRIPT_TOKENS       16000 /* declarations in a tool's description; instead of more, only names */
#define LT_FEEDBACK_TOKENS         8000  /* feedback on one program for the model; longer text loses its middle */
#define LT_TITLE_INPUT_CHARS       500   /* of the first message, from which the title is made */
#define LT_TITLE_TOKENS            30
#define LT_TITLE_BYTES             200

/* conversation.search, with which a model finds what it is not shown */
#define LT_CONVERSATION_SEARCH_PAGE    100  /* prompts that are read at once; of long ones fewer */
#define LT_CONVERSATION_SEARCH_PROMPTS 5000 /* ... and in all: a conversation of years */
#define LT_CONVERSATION_EXCERPT_BYTES  600  /* of a text: a model sees what it is about */
#define LT_CONVERSATION_FOUND          10   /* texts, unless another number is asked for, ... */
#define LT_CONVERSATION_FOUND_MAX      50   /* ... at most so many: 30 KB of excerpts */

/* --- Deno programs (runner/deno/deno.h) --------------------------------------------------------------------------- */
#define LT_DENO_EXIT_POLL_MS     5      /* between two looks whether a process that closed its output has ended */
#define LT_DENO_MAJOR_MIN        2      /* the oldest version that is asked to run programs */
#define LT_DENO_SLACK_BYTES      LT_GIB /* of data beyond the program's memory: Deno, its threads, buffers */
#define LT_DENO_FILE_BYTES       (64 * LT_MIB)  /* the longest file its process may write, which is its own cache */
#define LT_DENO_CONNECTIONS_MAX  256            /* to the bridge: calls of one program in flight, further ones queue */
#define LT_DENO_SPARE_MS         300000         /* a process started ahead of need ends after this long */
#define LT_DENO_IDLE_MS          86400000       /* of such a connection: one day, longer than any program */
#define LT_DENO_LINE_MAX_BYTES   (144 * LT_MIB) /* of its output: a result, twice a string of JSON */
#define LT_DENO_FAULTS_MAX_BYTES LT_MIB         /* the compiler's output for one program */
#define LT_DENO_CHECKER_BYTES    (3 * LT_GIB)   /* of the compiler's data; from 1 GiB on it collects garbage */

/* --- Checking types (runner/typecheck/typecheck.h) ---------------------------------------------------------------- */
#define LT_TYPECHECK_TYPES_MAX_BYTES (16 * LT_MIB) /* declarations of the tools that one program names */
#define LT_TYPECHECK_REPLY_MAX_BYTES (8 * LT_MIB)  /* one message of the compiler: the errors of a program */
#define LT_TYPECHECK_ARENA_BYTES     (64 * LT_MIB) /* to read it */
#define LT_TYPECHECK_MEMORY_BYTES    (3 * LT_GIB)  /* of the compiler's data; from 512 MiB on it collects harder */
#define LT_TYPECHECK_CPU_SECONDS     600           /* of one compiler process; the next check starts another one */
#define LT_TYPECHECK_WAIT_MS         5000   /* for the answer to a check, the start included; then it is killed */
#define LT_TYPECHECK_IDLE_MS         300000 /* a compiler that nobody asks ends after this long */
#define LT_TYPECHECK_FAILURES_MAX    3      /* in a row: then types are not checked any more */
#define LT_TYPECHECK_SHOWN           20     /* errors of one program: they go to a model */

/* --- Checking programs while they are written (runner/run_faults.h) ----------------------------------------------- */
#define LT_RUN_FAULTS_MAX   100          /* of one program: an editor shows them */
#define LT_RUN_FAULT_BYTES  (4 * LT_KIB) /* of one message */
#define LT_RUN_FAULTS_BYTES LT_MIB       /* of all faults of one program */
#define LT_CHECK_TIMEOUT_MS 10000        /* for all that is asked about one program */

/* --- Python programs (runner/python/python.h) --------------------------------------------------------------------- */
#define LT_PYTHON_LAST_WORDS_MS    50 /* from the end of the process that starts the others, to read its last messages */
#define LT_PYTHON_MEMORY_BYTES     (512 * LT_MIB) /* data of one program, beyond the interpreter's own */
#define LT_PYTHON_MEMORY_MIN_BYTES (16 * LT_MIB)
#define LT_PYTHON_SPACE_BYTES                                                            \
  (256 * LT_MIB) /* address space of an interpreter, where the system does not report it \
                  */
#define LT_PYTHON_DATA_BYTES      (64 * LT_MIB)  /* likewise its data */
#define LT_PYTHON_SLACK_BYTES     (256 * LT_MIB) /* of address space beyond that: mapped libraries */
#define LT_PYTHON_FILE_BYTES      (256 * LT_MIB) /* the longest file a program may write */
#define LT_PYTHON_DISK_BYTES      LT_GIB         /* all it may write into its own folder ... */
#define LT_PYTHON_DISK_FILES      20000          /* ... in so many files */
#define LT_PYTHON_LOCKS_MAX       10000          /* of ranges in files, seen by the same measurement */
#define LT_PYTHON_DISK_MS         250            /* between two measurements of the folder */
#define LT_PYTHON_MAPS_BYTES      (16 * LT_MIB)  /* the list of what it has mapped: 65530 places */
#define LT_PYTHON_FILES_MAX       256            /* it may have open */
#define LT_PYTHON_LEFT_S          60             /* an unlocked folder of this age is an abandoned one */
#define LT_PYTHON_RUNS_MAX        128            /* processes at once; further programs wait for one to end */
#define LT_PYTHON_SPARES_MAX      3              /* processes forked ahead, while programs follow each other ... */
#define LT_PYTHON_RUSH_MS         50             /* ... so fast; each has 3 MB of its own */
#define LT_PYTHON_SPARES_MS       1000           /* without a program for so long, one is kept */
#define LT_PYTHON_START_MS        20000          /* the interpreter's start, on a machine that is busy */
#define LT_PYTHON_KILL_MS         3000           /* from killing a program to abandoning the interpreter */
#define LT_PYTHON_LINGER_MS       250 /* from a program's last message to its exit; after twice that it is killed */
#define LT_PYTHON_AGAIN_MS        5   /* before the next message to a busy interpreter */
#define LT_PYTHON_PIECE_BYTES     (64 * LT_KIB) /* read at once from a program */
#define LT_PYTHON_TURN_BYTES      (4 * LT_MIB)  /* read from a program before others have their turn */
#define LT_PYTHON_LAST_BYTES      (64 * LT_MIB) /* of a program that has ended: its pipe has far less */
#define LT_PYTHON_FRAME_BYTES     (LT_JSON_MAX_BYTES + 64 * LT_KIB) /* one message of a program's: a name and JSON */
#define LT_PYTHON_SETUP_MAX_BYTES (128 * LT_KIB)                    /* one message to the interpreter: its walls */
#define LT_PYTHON_NAMES_BYTES     (64 * LT_MIB)                     /* the Python names of all tools */
#define LT_PYTHON_REPORT_BYTES    (16 * LT_MIB)                     /* for reading a program's report of its failure */

/* --- lines typed at the terminal (io/line_input.h) ---------------------------------------------------------------- */
#define LT_INPUT_HISTORY_MAX     1000          /* lines that can be found again */
#define LT_INPUT_HISTORY_BYTES   (64 * LT_KIB) /* of the end of the history's file that is read */
#define LT_INPUT_LINE_KEPT_BYTES (4 * LT_KIB)  /* a longer line is not kept; the line is on the fiber's stack */
#define LT_INPUT_LINE_BYTES      (1 * LT_MIB)
#define LT_COMPLETIONS_MAX       200           /* candidates that are shown for a word; more are counted */
#define LT_COMPLETIONS_BYTES     (64 * LT_KIB) /* their text */
#define LT_REPL_COMPLETE_MS      300           /* for the members of a value, whose getters are the program's */

/* --- saved programs (store/store_programs.h) ---------------------------------------------------------------------- */
#define LT_SAVED_PROGRAMS_MAX      200 /* each is a tool of every prompt */
#define LT_SAVED_VERSIONS_MAX      50  /* of a program; the oldest makes room for a further one */
#define LT_SAVED_NAME_BYTES        48
#define LT_SAVED_DESCRIPTION_BYTES (4 * LT_KIB)
#define LT_SAVED_CODE_BYTES        (256 * LT_KIB) /* of a version: the texts of all are in memory as modules */
#define LT_SAVED_SCHEMA_BYTES      (64 * LT_KIB)
#define LT_SAVED_DELETED_DAYS      30 /* until the code of a deleted program is removed: a stopped prompt may call it */

/* --- Markdown at the terminal (text/markdown.h) ------------------------------------------------------------------- */
#define LT_MARKDOWN_SPAN_BYTES  (4 * LT_KIB)   /* of marked text that waits for its mark's end; a line of code */
#define LT_MARKDOWN_TABLE_BYTES (128 * LT_KIB) /* of a table, half of it before it is measured: 1,000 rows */
#define LT_MARKDOWN_COLUMNS     32             /* of a table: no window has room for more */
#define LT_MARKDOWN_QUOTES      8              /* in each other; deeper ones are shown as they are written */
#define LT_MARKDOWN_INDENT      40             /* columns of a list in lists that are kept */

/* --- plugins ------------------------------------------------------------------------------------------------------ */
#define LT_PLUGINS_MAX           256
#define LT_PLUGIN_SETUP_MS       10000          /* setup, ready and prepare, each */
#define LT_PLUGIN_CALL_MS        120000         /* a call without a program's deadline over it */
#define LT_PLUGIN_END_MS         2000           /* for a plugin that is busy when Lathe ends */
#define LT_PLUGIN_QUEUE_MAX      1000           /* calls that wait for one plugin's thread */
#define LT_PLUGIN_CALL_MAX_BYTES (256 * LT_MIB) /* memory of one call: its texts and its allocations */
#define LT_PLUGIN_ID_BYTES       64             /* of a plugin's id */
#define LT_PLUGIN_NAME_BYTES     256            /* of the name of what it registers */
#define LT_PLUGIN_LINE_BYTES     (4 * LT_KIB)   /* of a line it logs, a reason, a signature; on its stack */
#define LT_PLUGIN_STRUCT_BYTES   (64 * LT_KIB)  /* a struct that claims to be longer is invalid */
#define LT_PLUGIN_TOOLS_MAX      1000           /* tools that one call of a plugin registers: looked up one by one */
#define LT_PLUGIN_FUNCTIONS_MAX  256            /* likewise its functions, and its modules */
#define LT_PLUGIN_MODES_MAX      16             /* likewise its execution modes */
#define LT_PLUGIN_CONTEXT_BYTES  LT_MIB         /* likewise its context items: no model reads more */
#define LT_PLAN_STEPS            50             /* of one execute_plan, unless configured; 1,000 at most */
#define LT_PLAN_AT_ONCE          10             /* of its steps under way at once, likewise */
#define LT_SCHEMA_INLINE_BYTES   (32 * LT_KIB)  /* a longer one is compiled off the loop: 1 ms is about this much */

/* --- searching tools (tool/search/search_index.h) ----------------------------------------------------------------- */
#define LT_SEARCH_TERMS_MAX         16             /* words of a query that count */
#define LT_SEARCH_QUERY_MAX_BYTES   (64 * LT_KIB)  /* of its beginning, where they are looked for */
#define LT_SEARCH_WORDS_MAX         2000000        /* of all tools that an index keeps; each tool has an equal share */
#define LT_SEARCH_TOOL_WORDS_MAX    4000           /* of one tool: what a reader would still read */
#define LT_SEARCH_SCHEMAS_MAX_BYTES (64 * LT_MIB)  /* of all tools that are read for parameters: 0.3 s */
#define LT_SEARCH_DEPTH_MAX         12             /* schemas in schemas whose parameters are found */
#define LT_SEARCH_MEMORY_BYTES      (512 * LT_MIB) /* an index as large as the numbers above allow */

/* --- declarations generated from schemas (types/typegen.h) -------------------------------------------------------- */
#define LT_TYPEGEN_SCHEMA_MAX_BYTES LT_MIB         /* a longer schema becomes `any`: its type would be unreadable */
#define LT_TYPEGEN_TYPE_MAX_BYTES   (256 * LT_KIB) /* the text one schema may become */
#define LT_TYPEGEN_MEMORY_BYTES     (64 * LT_MIB)  /* while one schema is read: its index and property tables */
#define LT_TYPEGEN_DEPTH_MAX        32             /* schemas in schemas; recursion on a loop fiber's stack */
#define LT_TYPEGEN_DEFS_MAX         1000           /* named types of one schema */
#define LT_TYPEGEN_STEPS_MAX        20000          /* schemas visited while references are followed, not named */
#define LT_TYPEGEN_DOC_MAX_BYTES    (4 * LT_KIB)   /* a description in a comment */
#define LT_TYPEGEN_PROMPT_MAX_CHARS 160            /* a description in the prompt's listing */
#define LT_TYPEGEN_NAME_MAX_CHARS   256            /* an id in a listing: far past real ones */
#define LT_TYPEGEN_LINE_MAX_CHARS   120            /* a description in the list for people */
#define LT_LISTING_TOKENS           4000 /* the prompt's listing unless configured otherwise: about 150 tools */
#define LT_LISTING_TOKENS_MIN       64   /* what a listing that only says how to search needs */

/* --- the library (include/lathe.h) -------------------------------------------------------------------------------- */
#define LT_EMBED_STRUCT_BYTES 4096   /* of a host's struct: far past what they will grow to */
#define LT_EMBED_RUNS_MAX     10000  /* of an environment whose end was not taken: three mappings each at most */
#define LT_EMBED_LANES_MAX    8      /* runs that workers turn; of more at once the loop's thread does many in a turn */
#define LT_EMBED_STARTS_MAX   8      /* runs that the loop's thread starts in one turn */
#define LT_EMBED_TELL_US      500    /* then, at the end of a turn, the host is told of the events that have gathered */
#define LT_EMBED_EVENTS_MAX   100000 /* that wait in a queue; a host that takes none is told no more of calls */
#define LT_EMBED_EVENTS_BYTES (256 * LT_MIB) /* likewise: inputs of calls, and what programs say */
#define LT_EMBED_USER_BYTES   256            /* of the name of a prompt's user */
#define LT_EMBED_RECORD_BYTES (64 * LT_MIB)  /* of a run that can be restored: of a longer one there is no snapshot */

/* --- questions at the terminal (cli/console.h, cli/approver.h) ---------------------------------------------------- */
#define LT_HELD_OUTPUT_BYTES   (4 * LT_JSON_MAX_BYTES) /* held while a question is open: a program has less to say */
#define LT_HELD_MESSAGES_BYTES (4 * LT_MIB)            /* likewise of messages; later ones are counted */
#define LT_PREVIEW_MS          2000   /* for the old text of a file that a call writes; then the new one is shown */
#define LT_PREVIEW_BYTES       LT_MIB /* of that text */
#define LT_DIFF_LINES          50000  /* of a text that is compared with another ... */
#define LT_DIFF_CELLS          (4 * LT_MIB) /* ... and pairs of lines: 40 ms; two texts of 2,000 changed lines */
#define LT_DIFF_MEMORY_BYTES   (16 * LT_MIB)
#define LT_QUESTION_SCAN_BYTES (4 * LT_MIB) /* an input is searched for letters that look like others: 10 ms */

/* --- JSON Schema (json/schema.h) and its patterns (json/regex.h) -------------------------------------------------- */
#define LT_SCHEMA_MAX_BYTES        LT_MIB        /* a schema's text, like LT_TYPEGEN_SCHEMA_MAX_BYTES */
#define LT_SCHEMA_MEMORY_BYTES     (64 * LT_MIB) /* one compiled schema; and likewise what checking one value may need */
#define LT_SCHEMA_NODES_MAX        50000         /* schemas in one schema */
#define LT_SCHEMA_IDS_MAX          1000          /* identifiers and anchors in one schema: looked up one by one */
#define LT_SCHEMA_PATTERNS_MAX     2000          /* patterns in one schema */
#define LT_SCHEMA_PROGRAMS_MAX     100000        /* instructions of all its patterns */
#define LT_SCHEMA_DEPTH_MAX        120     /* schemas being applied inside each other: recursion on a fiber's stack */
#define LT_SCHEMA_STEPS            4000000 /* of work per check, about 5 ns each: 20 ms ... */
#define LT_SCHEMA_STEPS_PER_BYTE   32      /* ... and this many more per byte of the checked value */
#define LT_SCHEMA_NOTES_MAX        20      /* unsupported parts that are reported for one schema */
#define LT_SCHEMA_FAULTS_MAX_BYTES (16 * LT_KIB) /* the text about one value */
#define LT_SCHEMA_SHOWN_BYTES      60            /* of a value, a key or a pattern in a fault's text */
#define LT_SCHEMA_LABELS_MAX       6             /* alternatives named in a fault */
#define LT_REGEX_PATTERN_MAX_BYTES (16 * LT_KIB)
#define LT_REGEX_MEMORY_BYTES      (8 * LT_MIB) /* the tree of one pattern */
#define LT_REGEX_DEPTH_MAX         40           /* groups in groups: recursion on a fiber's stack */
#define LT_REGEX_PROGRAM_MAX       8000         /* instructions after repetitions are written out */
#define LT_REGEX_RANGES_MAX        2000         /* of one character class */

/* --- fibers on the loop ------------------------------------------------------------------------------------------- */
#define LT_LOOP_STACK_BYTES    (256 * LT_KIB) /* our own straight-line code; deep parsing is bounded above */
#define LT_LOOP_FIBERS_MAX     262144         /* while one waits, 8 KiB of its stack are in memory */
#define LT_LOOP_STACKS_KEEP    64   /* ended fibers' stacks kept for the next ones: a mapping costs 5 to 50 us */
#define LT_LOOP_STACKS_AT_ONCE 16   /* mapped, in a rush */
#define LT_LOOP_STACKS_MAX     4096 /* ... and after a rush, until unused for a while; then ... */
#define LT_LOOP_STACKS_TRIM    32   /* ... this many are freed at a time, every ... */
#define LT_LOOP_TRIM_MS        100
#define LT_LOOP_TIMERS_KEEP    64  /* freed timers kept for later ones: closing one takes a turn of the loop */
#define LT_LOOP_TURN_RESUMES   256 /* fibers resumed before the loop looks at its files again */
#define LT_LOOP_TURN_STEPS     8   /* steps of a program on the loop's own thread, before it looks at its files again */
#define LT_LOOP_QUIET_FIBERS   6   /* with more, its own thread has others to serve than who waits for its work */
#define LT_LOOP_WATCH_MS       50  /* without work outside, the thread that watches it ticks on for so long */
#define LT_LOOP_SPIN_US        30  /* looking for posts before sleeping: about what a sleep and a wake cost */
#define LT_LOOP_SPIN_MISSES    16  /* vain looks in a row before the loop stops looking: 0.5 ms of CPU */
#define LT_FIBER_GUARD_BYTES   (64 * LT_KIB) /* below each stack: no frame of ours is large enough to jump over it */

#endif

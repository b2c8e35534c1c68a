// @exec: {"yield_time_ms": 10000, "max_output_tokens": 2000}
// The first lines may be a pragma of another code mode.
// servers: mail
// calls: mail.search_messages 1
// result: 2
const { total } = await mailSearchMessages({ query: "from:ben" });
return total;

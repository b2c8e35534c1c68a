-- wrk's script of bench/load.c: one POST again and again. Prints lines "rate N" (answers per second), "failed N", and
-- "at NANOSECONDS" for each thousandth of the latencies, which count from a request's first byte to its answer's last.
--
--   load.lua BODY EXPECTED [ACCEPT]     EXPECTED is text that each answer has
failed = 0

function init(args)
  wrk.method = "POST"
  wrk.body = args[1]
  expected = args[2]
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Accept"] = args[3]
end

function response(status, headers, body)
  if status ~= 200 or not body:find(expected, 1, true) then
    failed = failed + 1
  end
end

local only_thread

function setup(thread)
  only_thread = thread
end

function done(summary, latency)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  print(string.format("rate %f", summary.requests / (summary.duration / 1e6)))
  print(string.format("failed %d", only_thread:get("failed") + lost))
  for i = 0, 999 do
    print(string.format("at %.0f", latency:percentile(i / 10) * 1e3))
  end
end

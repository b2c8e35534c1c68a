// The conformance suite of MCP, its client half: the scenarios that are required of a client, without authorization.
import { describeConformance } from "./conformance.mjs";

describeConformance("the conformance suite, as a client", "conformance_client.mjs", {
  "2025-11-25": ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"],
  "2026-07-28": ["tools_call", "request-metadata", "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers", "json-schema-ref-no-deref"],
});

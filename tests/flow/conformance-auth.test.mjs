// The conformance suite of MCP, its client half: the scenarios with authorization that are required of a client of 2025-11-25, and those of 2025-03-26.
import { authScenarios, describeConformance } from "./conformance.mjs";

describeConformance("the conformance suite, as a client that has to log in", "conformance_auth_client.mjs", {
  "2025-03-26": ["auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"],
  "2025-11-25": authScenarios,
});

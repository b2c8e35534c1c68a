// The conformance suite of MCP, its client half: the scenarios with authorization that are required of a client of 2026-07-28.
import { authScenarios, describeConformance } from "./conformance.mjs";

const added = ["resource-mismatch", "offline-access-scope", "offline-access-not-supported", "authorization-server-migration", "iss-supported", "iss-not-advertised", "iss-supported-missing", "iss-wrong-issuer", "iss-unexpected", "iss-normalized", "metadata-issuer-mismatch"];

describeConformance("the conformance suite, as a client that has to log in, 2026-07-28", "conformance_auth_client.mjs", {
  "2026-07-28": [...authScenarios, ...added.map((name) => `auth/${name}`)],
  "2026-07-28 --force": ["auth/client-credentials-basic"], // of an extension
});

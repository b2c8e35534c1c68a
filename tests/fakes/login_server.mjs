// An MCP server that wants a login, and its authorization server, in one: what was asked of it is in `seen`, and options are its faults.
import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";

const read = async (request) => {
  let text = "";
  for await (const piece of request) text += piece;
  return text;
};

/**
 * Options: expiresIn (seconds of an access token), issuer and iss (what metadata and answers say instead of the truth), error (of the person's answer),
 * metadata and resource (more members, or other ones, of the two documents), slowTokenMs (until a token is answered), movedTo (where its endpoint redirects to),
 * words (of a refused token), mayWrite (whether the tool `write` is allowed), silent (it never answers), holds (what a call of a tool waits for), deny (no token is given), distrusts (no token is taken).
 * `server.access` and `server.refresh` are the tokens that are good; `server.last` is the address that the browser was sent to last.
 */
export async function loginServer(options = {}) {
  const seen = [], access = new Set(), refresh = new Set(), codes = new Map(), clients = new Set();
  const server = { seen, access, refresh, options, of: (path) => seen.filter((r) => r.path === path) };

  const tokens = (scope) => {
    const given = { access_token: `access-${randomUUID()}`, refresh_token: `refresh-${randomUUID()}`, token_type: "Bearer", expires_in: options.expiresIn ?? 3600, ...(scope && { scope }) };
    access.add(given.access_token);
    refresh.add(given.refresh_token);
    return given;
  };

  const token = (form) => {
    if (form.get("grant_type") === "authorization_code") {
      const given = codes.get(form.get("code"));
      codes.delete(form.get("code"));
      const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
      return given?.challenge === challenge && given.redirect === form.get("redirect_uri") ? tokens(given.scope) : undefined;
    }
    // A refresh token is good for one use; somebody who uses it twice has lost everything (RFC 9700, section 4.14.2).
    if (form.get("grant_type") === "refresh_token" && refresh.delete(form.get("refresh_token"))) return tokens();
    if (form.get("grant_type") === "client_credentials") return tokens();
    access.clear();
    refresh.clear();
    return undefined;
  };

  const result = (message, authorization) => ({
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "fake", version: "1" } },
    "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }, { name: "write", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: `you sent ${authorization}` }] },
  })[message.method];

  const http = createServer(async (request, answer) => {
    const at = new URL(request.url, server.origin);
    const body = await read(request);
    seen.push({ method: request.method, path: at.pathname, query: at.searchParams, authorization: request.headers.authorization, body });
    const json = (value, status = 200, headers = {}) => answer.writeHead(status, { "Content-Type": "application/json", ...headers }).end(value === undefined ? "" : JSON.stringify(value));
    switch (at.pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return json({ resource: server.url, authorization_servers: [server.origin], ...options.resource });
      case "/.well-known/oauth-authorization-server":
        return json({
          issuer: options.issuer ?? server.origin, authorization_endpoint: `${server.origin}/authorize`, token_endpoint: `${server.origin}/token`, registration_endpoint: `${server.origin}/register`,
          revocation_endpoint: `${server.origin}/revoke`, code_challenge_methods_supported: ["S256"], authorization_response_iss_parameter_supported: true, token_endpoint_auth_methods_supported: ["none"], ...options.metadata,
        });
      case "/register": {
        const client = `client-${clients.size}`;
        clients.add(client);
        return json({ ...JSON.parse(body), client_id: client }, 201);
      }
      case "/authorize": {
        const code = randomUUID(), to = new URL(at.searchParams.get("redirect_uri"));
        codes.set(code, { challenge: at.searchParams.get("code_challenge"), redirect: at.searchParams.get("redirect_uri"), scope: at.searchParams.get("scope") });
        to.searchParams.set("state", at.searchParams.get("state"));
        if (options.error) to.searchParams.set("error", options.error);
        else to.searchParams.set("code", code);
        if (options.iss !== "") to.searchParams.set("iss", options.iss ?? server.origin);
        server.last = to.href;
        return answer.writeHead(302, { Location: to.href }).end();
      }
      case "/token": {
        if (options.slowTokenMs) await new Promise((done) => setTimeout(done, options.slowTokenMs));
        if (options.movedTo) return answer.writeHead(307, { Location: options.movedTo }).end();
        const given = options.deny ? undefined : token(new URLSearchParams(body));
        return given ? json(given) : json({ error: "invalid_grant", error_description: options.words ?? "it is used up" }, 400);
      }
      case "/revoke": {
        const gone = new URLSearchParams(body).get("token");
        access.delete(gone);
        refresh.delete(gone);
        return json(undefined);
      }
      case "/mcp": {
        if (options.silent) return undefined;
        const challenge = `Bearer resource_metadata="${server.origin}/.well-known/oauth-protected-resource/mcp"`;
        if (options.distrusts || !access.has(request.headers.authorization?.replace(/^Bearer /, ""))) return json({ error: "invalid_token" }, 401, { "WWW-Authenticate": challenge });
        if (request.method !== "POST") return json(undefined, 405);
        const message = JSON.parse(body);
        if (message.method === "tools/call" && message.params.name === "write" && !options.mayWrite?.())
          return json({ error: "insufficient_scope" }, 403, { "WWW-Authenticate": `${challenge}, error="insufficient_scope", scope="write"` });
        if (message.id === undefined) return json(undefined, 202);
        if (message.method === "tools/call") await options.holds?.();
        const value = result(message, request.headers.authorization);
        return json({ jsonrpc: "2.0", id: message.id, ...(value ? { result: value } : { error: { code: -32601, message: "Method not found" } }) });
      }
      default:
        return json({ error: "not found" }, 404);
    }
  });
  await new Promise((done) => http.listen(0, "127.0.0.1", done));
  http.unref();
  server.origin = `http://127.0.0.1:${http.address().port}`;
  server.url = `${server.origin}/mcp`;
  return server;
}

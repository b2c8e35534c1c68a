#include "mcp/mcp_client.h"

void lt_mcp_result_release(lt_mcp_result *result) {
  lt_arena_release(&result->arena);
  *result = (lt_mcp_result){0};
}

/* What real MCP servers say of their tools, shortened: their names, the beginning of their descriptions, some of their
 * parameters. */
#ifndef LT_TESTS_SEARCH_TOOLS_H
#define LT_TESTS_SEARCH_TOOLS_H

typedef struct told_tool {
  const char *ns;
  const char *name;
  const char *description;
  const char *parameters; /* with spaces between them */
} told_tool;

static const told_tool told_tools[] = {
    {"git", "git_branch",
     "Manage branches: list all branches, show current branch, create a new branch, delete a branch, or rename a "
     "branch.",
     "path mode branchName newBranchName startPoint"},
    {"git", "git_checkout",
     "Switch branches or restore working tree files. Can checkout an existing branch, create a new branch, or restore "
     "specific files.",
     "path target createBranch force paths"},
    {"git", "git_commit",
     "Create a new commit with staged changes in the repository. Records a snapshot of the staging area with a commit "
     "message",
     "path message author amend allowEmpty"},
    {"git", "git_log",
     "View commit history with optional filtering by author, date range, file path, or commit message pattern.",
     "path maxCount skip since until"},
    {"git", "git_diff",
     "View differences between commits, branches, or working tree. Shows changes in unified diff format.",
     "path target source paths staged"},
    {"git", "git_add",
     "Stage files for commit. Add file contents to the staging area (index) to prepare for the next commit.",
     "path paths update all force"},
    {"git", "git_clone",
     "Clone a repository from a remote URL or local path. Accepts HTTP(S), SSH, git://, file://, and bare filesystem "
     "paths, with optional shallow cloning.",
     "url path branch depth bare"},
    {"git", "git_tag",
     "Manage tags: list all tags, create a new tag, delete a tag, or verify a signed tag. Tags are used to mark "
     "specific points in history (releases, milestones)",
     "path mode tagName commit message"},
    {"git", "git_stash",
     "Manage stashes: list stashes, save current changes (push), restore changes (pop/apply), or remove stashes "
     "(drop/clear).",
     "path mode message stashRef includeUntracked"},
    {"git", "git_blame",
     "Show line-by-line authorship information for a file, displaying who last modified each line and when. For large "
     "files, use startLine/endLine to limit output.",
     "path filePath startLine endLine ignoreWhitespace"},
    {"files", "read_file", "Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.",
     "path tail head"},
    {"files", "read_text_file",
     "Read the complete contents of a file from the file system as text. Handles various text encodings and provides "
     "detailed error messages if the file cannot be read",
     "path tail head"},
    {"files", "read_multiple_files",
     "Read the contents of multiple files simultaneously. This is more efficient than reading files one by one when "
     "you need to analyze or compare multiple files",
     "paths"},
    {"files", "write_file",
     "Create a new file or completely overwrite an existing file with new content. Use with caution as it will "
     "overwrite existing files without warning",
     "path content"},
    {"files", "edit_file",
     "Make line-based edits to a text file. Each edit replaces exact line sequences with new content",
     "path edits dryRun"},
    {"files", "create_directory",
     "Create a new directory or ensure a directory exists. Can create multiple nested directories in one operation",
     "path"},
    {"files", "list_directory",
     "Get a detailed listing of all files and directories in a specified path. Results clearly distinguish between "
     "files and directories with [FILE] and [DIR] prefixes",
     "path"},
    {"files", "directory_tree",
     "Get a recursive tree view of files and directories as a JSON structure. Each entry includes 'name', 'type' "
     "(file/directory), and 'children' for directories",
     "path excludePatterns"},
    {"files", "move_file",
     "Move or rename files and directories. Can move files between directories and rename them in a single operation",
     "source destination"},
    {"files", "search_files",
     "Recursively search for files and directories matching a pattern. The patterns should be glob-style patterns that "
     "match paths relative to the working directory",
     "path pattern excludePatterns"},
    {"files", "get_file_info",
     "Retrieve detailed metadata about a file or directory. Returns comprehensive information including size, creation "
     "time, last modified time, permissions, and type",
     "path"},
    {"github", "create_branch", "Create a new branch in a GitHub repository", "owner repo branch from_branch"},
    {"github", "create_issue", "Create a new issue in a GitHub repository", "owner repo title body assignees"},
    {"github", "create_pull_request", "Create a new pull request in a GitHub repository", "owner repo title body head"},
    {"github", "list_pull_requests", "List and filter repository pull requests", "owner repo state head base"},
    {"github", "search_repositories", "Search for GitHub repositories", "query page perPage"},
    {"github", "add_issue_comment", "Add a comment to an existing issue", "owner repo issue_number body"},
    {"github", "fork_repository", "Fork a GitHub repository to your account or specified organization",
     "owner repo organization"},
    {"github", "get_file_contents", "Get the contents of a file or directory from a GitHub repository",
     "owner repo path branch"},
    {"notion", "API-post-page", "Notion | Create a page Error Responses: 400: Bad request",
     "parent properties children icon cover"},
    {"notion", "API-retrieve-a-page", "Notion | Retrieve a page Error Responses: 400: Bad request",
     "page_id filter_properties"},
    {"notion", "API-create-a-comment", "Notion | Create comment Error Responses: 400: Bad request", "parent rich_text"},
    {"notion", "API-query-data-source", "Notion | Query a data source Error Responses: 400: Bad request",
     "data_source_id filter_properties filter sorts start_cursor"},
};

#endif

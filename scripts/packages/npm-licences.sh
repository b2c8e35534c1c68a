# shellcheck shell=bash
# What the build takes from npm and is part of the program (THIRD_PARTY.md, "Inside the program").
copy_npm_licences() { # folder
  local package file
  for package in quickjs-wasi sucrase core-js-pure @exodus/bytes @noble/hashes @formatjs/intl-datetimeformat markdown-it \
    @codemirror/view @codemirror/state @codemirror/language @lezer/common @lezer/highlight @lezer/lr style-mod w3c-keyname \
    crelt @marijn/find-cluster-break entities linkify-it mdurl uc.micro punycode.js ts-interface-checker lines-and-columns; do
    for file in node_modules/"$package"/[Ll][Ii][Cc][Ee][Nn][SsCc][Ee]*; do
      [ -e "$file" ] || continue
      install -m 644 "$file" "$1/npm-${package//\//-}"
      break
    done
  done
}

// Text of a model as Markdown: markdown-it, bundled by esbuild into markdown.js (Makefile) and loaded with the first text.
import MarkdownIt from "markdown-it";

const SAFE = /^(?:https?:|mailto:)/i;

// HTML in a text is shown as it was written. Links lead elsewhere only by these schemes.
const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false, breaks: false });
markdown.validateLink = (url) => SAFE.test(url.trim());

const plainLink = markdown.renderer.rules.link_open ?? ((tokens, i, options, env, self) => self.renderToken(tokens, i, options));
markdown.renderer.rules.link_open = (tokens, i, options, env, self) => {
  tokens[i].attrSet("rel", "noreferrer noopener");
  tokens[i].attrSet("target", "_blank");
  return plainLink(tokens, i, options, env, self);
};

// A picture of elsewhere is a way to tell somebody that, and what, was read: it becomes a link.
markdown.renderer.rules.image = (tokens, i) => {
  const { escapeHtml } = markdown.utils;
  const words = escapeHtml(tokens[i].content || "picture");
  const from = tokens[i].attrGet("src") ?? "";
  return SAFE.test(from) ? `<a href="${escapeHtml(from)}" rel="noreferrer noopener" target="_blank">${words}</a>` : words;
};

// Alignment of a column would be a style attribute, which the page's policy does not take: a class says it.
for (const name of ["th_open", "td_open"]) {
  markdown.renderer.rules[name] = (tokens, i, options, env, self) => {
    const align = /text-align:(\w+)/.exec(tokens[i].attrGet("style") ?? "");
    tokens[i].attrs = align ? [["class", `align-${align[1]}`]] : null;
    return self.renderToken(tokens, i, options);
  };
}

/** The text as elements. */
export function render(text) {
  const template = document.createElement("template");
  template.innerHTML = markdown.render(text);
  for (const code of template.content.querySelectorAll("pre")) code.tabIndex = 0;
  return template.content;
}

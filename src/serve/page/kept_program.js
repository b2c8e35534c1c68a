// The program of the editor, as this browser keeps it: a text for each language, and which of them is shown.

const KEY = "lathe.program";
export const LANGUAGES = { javascript: "JavaScript", typescript: "TypeScript", python: "Python" };

/** {language, javascript?, typescript?, python?}. Storage may be switched off. */
export function readKept() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY)) ?? {};
    return { ...kept, language: kept.language in LANGUAGES ? kept.language : "javascript" };
  } catch {
    return { language: "javascript" };
  }
}

export function writeKept(kept) {
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch { /* full or switched off: it lives as long as the page */ }
}

/** Another view hands over a program: it is what the editor shows when it is opened next. */
export function keepProgram({ code, language }) {
  writeKept({ ...readKept(), language, [language]: code });
}

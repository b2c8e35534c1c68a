// What somebody sees at a terminal: the screen that bytes leave behind.
import assert from "node:assert/strict";

/** Columns of a character: enough for what the tests show. */
const columnsOf = (char) => (/\p{Mark}|[\u200b-\u200f\ufe00-\ufe0f]/u.test(char) ? 0 : /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u.test(char) ? 2 : 1);

/**
 * The lines on a terminal that is `columns` wide and never scrolls: text wraps, \r, \n, \b, \x07, and the sequences that Lathe and libedit write (up, down,
 * right, left, a column, erasing; styles and modes change nothing). Any other one fails the test. Trailing spaces are left out.
 */
export function screen(bytes, columns) {
  const lines = [[]];
  let row = 0, at = 0;
  const down = () => { row += 1; lines[row] ??= []; };
  const moves = {
    A: (n) => { row = Math.max(0, row - n); }, B: (n) => { for (let i = 0; i < n; i++) down(); },
    C: (n) => { at = Math.min(columns - 1, at + n); }, D: (n) => { at = Math.max(0, at - n); }, G: (n) => { at = n - 1; },
    K: () => { lines[row].length = Math.min(lines[row].length, at); }, J: () => { lines[row].length = Math.min(lines[row].length, at); lines.length = row + 1; },
    P: (n) => { lines[row].splice(at, n); }, m: () => {}, h: () => {}, l: () => {},
    "@": (n) => { lines[row].splice(at, 0, ...Array(n).fill(" ")); },
  };
  for (const [piece] of bytes.matchAll(/\x1b\[[0-9;?]*[A-Za-z@]|[^]/gu)) {
    const sequence = /^\x1b\[\??([0-9;]*)([A-Za-z@])$/.exec(piece);
    if (sequence) {
      assert.ok(moves[sequence[2]], `an unknown sequence: ${JSON.stringify(piece)}`);
      moves[sequence[2]](Math.max(1, Number.parseInt(sequence[1] || "1", 10) || 1));
    } else if (piece === "\r") at = 0;
    else if (piece === "\n") { down(); } else if (piece === "\b") at = Math.max(0, at - 1);
    else if (piece === "\t") at = Math.min(columns - 1, (Math.floor(at / 8) + 1) * 8);
    else if (piece !== "\x07") {
      assert.ok(piece >= " ", `a control character: ${JSON.stringify(piece)}`);
      const width = columnsOf(piece);
      if (at + width > columns) { down(); at = 0; }
      while (lines[row].length < at) lines[row].push(" ");
      if (width === 0) lines[row][at - 1] = (lines[row][at - 1] ?? "") + piece;
      else { lines[row][at] = piece; if (width === 2) lines[row][at + 1] = ""; at += width; }
    }
  }
  return lines.map((line) => Array.from(line, (cell) => cell ?? " ").join("").trimEnd());
}

/** The text of the styles that are on for a part of what was written: `styled(bytes, "word")` is ["1", "36"]. */
export function styled(bytes, word) {
  const at = bytes.indexOf(word);
  assert.ok(at >= 0, `${word} was not written`);
  return /\x1b\[([0-9;]*)m$/.exec(bytes.slice(0, at))?.[1].split(";") ?? [];
}

/**
 * Texts of a CSV file that a spreadsheet would take for formulas and run: strangers choose their addresses and audiences.
 * An apostrophe in front says that it is text, and is taken away by the import.
 */

export function asText(cell: string): string {
  return /^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
}

export function fromText(cell: string): string {
  return /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell
}

/**
 * Cells of a CSV file that a spreadsheet would execute as formulas: users choose their addresses and metadata. A
 * leading apostrophe marks them as text; the import removes it.
 */

export function escapeFormula(cell: string): string {
  return /^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
}

export function fromText(cell: string): string {
  return /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell
}

import { renameSync, writeFileSync } from 'node:fs'

/** Replaces a file with secrets as a whole, so that a kill leaves a complete one. */
export function replaceFile(file: string, text: string): void {
  const draft = `${file}.new`
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, file)
}

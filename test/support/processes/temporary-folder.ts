/** A folder for the files of a test or a suite. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Ending } from './ending.ts'

/** Creates a folder that is removed when the test ends; its name contains `name`. */
export function temporaryFolder(t: Ending, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `postern-${name}-`))
  // Synchronous, so that it also works while the process exits.
  t.after(async () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

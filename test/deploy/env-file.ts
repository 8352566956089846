/** Folders with the .env that `npm run secrets` writes. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parseEnv } from 'node:util'

import { temporaryFolder } from '../support/processes/temporary-folder.ts'

const program = join(import.meta.dirname, '../../scripts/make-secrets.ts')

/** Returns the resulting content of .env. */
export function makeSecrets(cwd: string): NodeJS.Dict<string> {
  execFileSync(process.execPath, [program], { cwd, stdio: 'ignore' })
  return parseEnv(readFileSync(join(cwd, '.env'), 'utf8'))
}

export function newFolder(t: TestContext): string {
  const folder = temporaryFolder(t, 'compose')
  return folder
}

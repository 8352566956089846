/** Folders with the .env that `npm run secrets` writes. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parseEnv } from 'node:util'

const program = join(import.meta.dirname, '../../scripts/make-secrets.ts')

/** Returns the resulting content of .env. */
export function makeSecrets(cwd: string): NodeJS.Dict<string> {
  execFileSync(process.execPath, [program], { cwd, stdio: 'ignore' })
  return parseEnv(readFileSync(join(cwd, '.env'), 'utf8'))
}

export function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-compose-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

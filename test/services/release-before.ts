/** The previous release from the history of the repository, with its packages. */
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { earliest } from '../support/former-database.ts'
import type { Ending } from '../support/processes/ending.ts'
import { createFolder } from './programs.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/** The commit that counts as the release before the first (docs/decisions/2026-11-30-baselines.md). */
const beforeAnyTag = '397d015414fbebc92d8c7f6545e9cd7a02824f87'

const tag = newestTag()

export const releaseBefore = tag ?? beforeAnyTag

function newestTag(): string | undefined {
  try {
    return git('tag', '--list', 'v*', '--sort=-version:refname').split('\n')[0] || undefined
  } catch {
    return undefined
  }
}

/** The stored database of that release, with users. */
export const databaseBefore = readFileSync(
  join(
    root,
    `test/db/fixtures/schemas/${tag === undefined ? earliest : tag.replace(/^v/, '')}.sql`,
  ),
  'utf8',
)

/** A reason to skip a test, or false. */
export function unreachable(revision: string): string | false {
  try {
    git('cat-file', '-e', `${revision}^{commit}`)
    return false
  } catch {
    return `not in the history of this clone: ${revision}`
  }
}

/** Resolves to its cli.ts. */
export async function fetchRelease(t: Ending, revision: string): Promise<string> {
  const folder = createFolder(t)
  const archive = join(folder, 'release.tar')
  git('archive', '--output', archive, revision)
  await run('tar', ['--extract', '--file', archive, '--directory', folder])
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  const only = ['--omit=dev', '--ignore-scripts', '--prefer-offline']
  await run('npm', ['ci', ...only, ...quiet], { cwd: folder })
  return join(folder, 'cli.ts')
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' })
}

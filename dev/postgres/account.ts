/** The system user that runs Postgres, because Postgres does not run as root. */
import { execFileSync, spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'

import { PostgresStartError } from './start-error.ts'

export interface Account {
  uid: number
  gid: number
}

/** Undefined means the current user. An existing cluster keeps its owner. */
export function serverAccount(clusterDir: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const owner = statSync(clusterDir, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const account = readIds('postgres') ?? readIds('nobody')
  if (account === undefined) {
    throw new PostgresStartError(
      'Postgres does not run as root, and this system has neither a user "postgres" nor "nobody": ' +
        'create one of them, or start as another user.',
    )
  }
  return account
}

/** Whether the account can enter every folder of the path and the last one, or run the file. */
export function canReach(path: string, account: Account): boolean {
  return spawnSync('test', ['-x', path], { ...account, cwd: '/' }).status === 0
}

function readIds(name: string): Account | undefined {
  try {
    const id = (flag: string) =>
      Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }))
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return undefined
  }
}

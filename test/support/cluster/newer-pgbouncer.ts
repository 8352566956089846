/** A PgBouncer with prepared statements (1.21 or later): PGBOUNCER_PATH, the installed one, or one built from source. */
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const built = join(root, 'node_modules/.cache/pgbouncer/pgbouncer')

/** Its path. Without one, `reason` says why tests are skipped. */
export function newerPgbouncer(): { path: string } | { path: undefined; reason: string } {
  const { PGBOUNCER_PATH } = process.env
  const found = [PGBOUNCER_PATH ?? 'pgbouncer', built].find(hasPreparedStatements)
  if (found !== undefined) return { path: found }
  const { status, stderr } = spawnSync(join(import.meta.dirname, 'build-pgbouncer.sh'), {
    encoding: 'utf8',
  })
  if (status === 0) return { path: built }
  return {
    path: undefined,
    reason: `PgBouncer could not be built: ${stderr.trim().split('\n').at(-1)}`,
  }
}

function hasPreparedStatements(path: string): boolean {
  try {
    const output = execFileSync(path, ['-V'], { encoding: 'utf8', stdio: 'pipe' })
    const [, minor = '0'] = /^PgBouncer 1\.(\d+)/.exec(output) ?? []
    return Number(minor) >= 21
  } catch {
    return false
  }
}

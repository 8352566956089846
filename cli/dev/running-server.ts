/** A file in .data/ that leads commands in the same folder to the development server that runs there. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { VariableName } from '../../plugins/config/config.ts'
import type { Environment } from '../../plugins/config/names.ts'

/** What a command needs to know to work beside the server; whatever else it reads from the environment and .env. */
const shared: readonly VariableName[] = [
  'DATABASE_URL',
  'AUTH_DB_DRIVER',
  'AUTH_DB_NAMESPACE',
  'AUTH_JWT_SECRET',
  'AUTH_ENCRYPTION_KEY',
  'AUTH_JWT_ALGORITHM',
  'PORT',
  'AUTH_API_EXTERNAL_URL',
  'AUTH_SITE_URL',
]

interface Announcement {
  pid: number
  values: Environment
}

/** Tells commands of this server until the returned function is called. The file holds secrets. */
export function announceServer(dir: string, env: Environment): () => void {
  const file = fileIn(dir)
  const values = Object.fromEntries(shared.map((name) => [name, env[name]]))
  rmSync(file, { force: true })
  const text = JSON.stringify({ pid: process.pid, values } satisfies Announcement)
  writeFileSync(file, text, { mode: 0o600 })
  return () => rmSync(file, { force: true })
}

/** Its variables; undefined where no development server runs. */
export function findRunningServer(dir: string): Environment | undefined {
  try {
    const { pid, values }: Announcement = JSON.parse(readFileSync(fileIn(dir), 'utf8'))
    // Throws when there is no such process: the server was killed.
    process.kill(pid, 0)
    return values
  } catch {
    return undefined
  }
}

function fileIn(dir: string): string {
  return join(dir, 'running.json')
}

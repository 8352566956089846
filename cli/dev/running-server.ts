/** A file in .data/ by which commands in the same folder find the running development server. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { variableEntries } from '../../config/groups/index.ts'
import type { Environment } from '../../config/names.ts'

interface Announcement {
  pid: number
  values: Environment
}

/** Registers this server and its variables until the returned function is called. The file has secrets. */
export function registerDevServer(dir: string, env: Environment): () => void {
  const file = fileIn(dir)
  const values = Object.fromEntries(variableEntries.map(([name]) => [name, env[name]]))
  rmSync(file, { force: true })
  const text = JSON.stringify({ pid: process.pid, values } satisfies Announcement)
  writeFileSync(file, text, { mode: 0o600 })
  return () => rmSync(file, { force: true })
}

/** The variables of the running server; undefined without one. */
export function findRunningServer(dir: string): Environment | undefined {
  try {
    const { pid, values }: Announcement = JSON.parse(readFileSync(fileIn(dir), 'utf8'))
    // Throws when the process does not exist: the server was killed.
    process.kill(pid, 0)
    return values
  } catch {
    return undefined
  }
}

function fileIn(dir: string): string {
  return join(dir, 'running.json')
}

/** Runs a converter of examples/import as the command line does. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'

import { temporaryFolder } from '../../support/processes/temporary-folder.ts'

const folder = join(import.meta.dirname, '../../../examples/import')
const execute = promisify(execFile)

export interface Converted {
  text: string
  users: Record<string, unknown>[]
  /** What the program prints for the operator. */
  notes: string
}

/** `exports` are written to a file each: texts as they are, everything else as JSON. */
export async function convert(
  t: TestContext,
  program: string,
  exports: unknown[],
  more: string[] = [],
): Promise<Converted> {
  const place = temporaryFolder(t, 'convert')
  const files = exports.map((_, i) => join(place, `export-${i}.json`))
  for (const [i, file] of files.entries()) {
    const given = exports[i]
    await writeFile(file, typeof given === 'string' ? given : JSON.stringify(given))
  }
  const args = [join(folder, program), ...files, ...more]
  const { stdout, stderr } = await execute(process.execPath, args)
  const users = stdout.trim() === '' ? [] : stdout.trim().split('\n')
  return { text: stdout, users: users.map((line) => JSON.parse(line)), notes: stderr }
}

/** The only user of an export. */
export async function convertOne(...args: Parameters<typeof convert>) {
  const { users, notes } = await convert(...args)
  const [user] = users
  assert.ok(user && users.length === 1, notes)
  return { user, notes }
}

/** The names after `left out`, with their counts. */
export function readLeftOut(notes: string): string[] {
  const line = notes.split('\n').find((text) => text.startsWith('left out: '))
  return (line?.slice('left out: '.length).split(', ') ?? []).toSorted()
}

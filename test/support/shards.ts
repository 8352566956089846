/**
 * Several test files in one process: loading the house costs more than most files' tests.
 * A shard is a module that imports its files, so that the runner still sees, and counts, every single test.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const smallest = 4

export interface Shards {
  files: string[]
  remove(): void
}

/**
 * Shards in the order they are to be started in, for so many processes at a time. Each takes a share of what is left,
 * so that the last ones are short and nobody waits long for them.
 */
export function makeShards(testFiles: string[], processes: number): Shards {
  const folder = mkdtempSync(join(tmpdir(), 'postern-shards-'))
  const left = testFiles.toSorted((a, b) => placeOf(a).localeCompare(placeOf(b)))
  const files: string[] = []
  while (left.length > 0) {
    const size = Math.max(smallest, Math.ceil(left.length / (1.5 * processes)))
    const path = join(folder, `shard-${String(files.length + 1).padStart(2, '0')}.mjs`)
    writeFileSync(path, left.splice(0, size).map(toImport).join(''))
    files.push(path)
  }
  return { files, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** By chance, and always the same: neighbours are often alike in cost. */
function placeOf(file: string): string {
  return createHash('sha256').update(file).digest('hex')
}

function toImport(file: string): string {
  return `import ${JSON.stringify(pathToFileURL(resolve(file)).href)}\n`
}

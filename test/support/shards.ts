/**
 * Several test files in one process: loading the house costs more than most files' tests.
 * A shard requires its files, so that the runner still sees, and counts, every single test. They are all loaded before
 * the first test begins, and a file that awaits something while it is loaded is refused: it would be loaded while tests of
 * others run, whose clock may stand elsewhere.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const smallest = 18

export interface Shards {
  files: string[]
  remove(): void
}

/**
 * Shards in the order they are to be started in, for so many processes at a time. Each takes a share of the files that
 * are left, so that the last ones are short and nobody waits long for them.
 */
export function makeShards(testFiles: string[], processes: number): Shards {
  const folder = mkdtempSync(join(tmpdir(), 'postern-shards-'))
  const files: string[] = []
  function add(shard: string[]): void {
    const path = join(folder, `shard-${String(files.length + 1).padStart(2, '0')}.cjs`)
    writeFileSync(path, shard.map(toLine).join(''))
    files.push(path)
  }

  const long = testFiles.filter(startsProcesses)
  for (let from = 0; from < long.length; from += 2) add(long.slice(from, from + 2))
  const left = testFiles
    .filter((file) => !long.includes(file))
    .toSorted((a, b) => placeOf(a).localeCompare(placeOf(b)))
  while (left.length > 0) {
    add(left.splice(0, Math.max(smallest, Math.ceil(left.length / (2 * processes)))))
  }
  return { files, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** These take longest, two of them as long as a shard of the others. */
function startsProcesses(file: string): boolean {
  return /\b(startServerProcess|startCli|startDev|startPostgres)\b/.test(readFileSync(file, 'utf8'))
}

/** By chance, and always the same: neighbours are often alike in cost. */
function placeOf(file: string): string {
  return createHash('sha256').update(file).digest('hex')
}

function toLine(file: string): string {
  return `require(${JSON.stringify(resolve(file))})\n`
}

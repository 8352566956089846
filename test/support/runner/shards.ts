/**
 * Several test files in one process, because loading the server costs more than most files’ tests. A shard requires its
 * files, so that the runner counts each test. All are loaded before the first test begins; a file with a top-level
 * await is rejected: it would load while other tests run, whose clock may be mocked.
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
 * Shards in start order for this many concurrent processes. Each takes a share of the remaining files, so that the last
 * ones are short.
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
    .toSorted((a, b) => computePosition(a).localeCompare(computePosition(b)))
  while (left.length > 0) {
    add(left.splice(0, Math.max(smallest, Math.ceil(left.length / (2 * processes)))))
  }
  return { files, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The slowest files; two of them take as long as a shard of others. */
function startsProcesses(file: string): boolean {
  return /\b(startServerProcess|startCli|startDev|startPostgres)\b/.test(readFileSync(file, 'utf8'))
}

/** Pseudo-random with a fixed seed: neighbours often cost the same. */
function computePosition(file: string): string {
  return createHash('sha256').update(file).digest('hex')
}

function toLine(file: string): string {
  return `require(${JSON.stringify(resolve(file))})\n`
}

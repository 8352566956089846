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
 * Shards in start order for this many concurrent processes. One process is left for the files that start processes:
 * they often wait, and each takes little time, so that they also fill the end. The others share the remaining files:
 * each process compiles and optimizes the same code again, for several seconds.
 */
export function makeShards(testFiles: string[], processes: number): Shards {
  const folder = mkdtempSync(join(tmpdir(), 'postern-shards-'))
  const long = testFiles.filter(startsProcesses)
  const others = testFiles
    .filter((file) => !long.includes(file))
    .toSorted((a, b) => computePosition(a).localeCompare(computePosition(b)))
  const size = Math.max(smallest, Math.ceil(others.length / (processes - 1)))
  const files = [...inGroups(others, size), ...inGroups(long, 2)].map((shard, index) => {
    const path = join(folder, `shard-${String(index + 1).padStart(2, '0')}.cjs`)
    writeFileSync(path, shard.map(toLine).join(''))
    return path
  })
  return { files, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function inGroups(files: string[], size: number): string[][] {
  const starts = Array.from({ length: Math.ceil(files.length / size) }, (_, index) => index * size)
  return starts.map((from) => files.slice(from, from + size))
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

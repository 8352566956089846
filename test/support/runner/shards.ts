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

/** Of the files that start no process; the others fill the end, so that all processes end at about the same time. */
const shareOfLargeShards = 0.7

/**
 * Shards in start order for this many concurrent processes: first large ones, because each process compiles and
 * optimizes the same code again, for several seconds. One process is left for the files that start processes, which
 * often wait.
 */
export function makeShards(testFiles: string[], processes: number): Shards {
  const folder = mkdtempSync(join(tmpdir(), 'postern-shards-'))
  const long = testFiles.filter(startsProcesses)
  const others = testFiles
    .filter((file) => !long.includes(file))
    .toSorted((a, b) => computePosition(a).localeCompare(computePosition(b)))
  const isLarge = (_: string, index: number) => index < shareOfLargeShards * others.length
  const inShards = (group: string[]) =>
    inGroups(group, Math.max(smallest, Math.ceil(group.length / (processes - 1))))
  const large = inShards(others.filter(isLarge))
  const small = inShards(others.filter((file, index) => !isLarge(file, index)))
  const files = [...large, ...inGroups(long, 2), ...small].map((shard, index) => {
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

/**
 * Several test files in one process, because loading the server costs more than most files’ tests. A shard requires its
 * files, so that the runner counts each test. All are loaded before the first test begins; a file with a top-level
 * await is rejected: it would load while other tests run, whose clock may be mocked.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export interface Shards {
  files: string[]
  remove(): void
}

/**
 * One shard for each of this many concurrent processes, because each process loads, compiles and optimizes the same
 * code again, for several seconds. Files that start processes, which take long, are spread evenly.
 */
export function makeShards(testFiles: string[], processes: number): Shards {
  const folder = mkdtempSync(join(tmpdir(), 'postern-shards-'))
  const ordered = testFiles.toSorted((a, b) => computePosition(a).localeCompare(computePosition(b)))
  const [long = [], others = []] = [true, false].map((isLong) =>
    ordered.filter((file) => startsProcesses(file) === isLong),
  )
  const shards = Array.from({ length: processes }, (): string[] => [])
  for (const [index, file] of [...long, ...others].entries()) shards[index % processes]?.push(file)
  const files = shards.map((shard, index) => {
    const path = join(folder, `shard-${index + 1}.cjs`)
    writeFileSync(path, shard.map(toLine).join(''))
    return path
  })
  return { files, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The slowest files, which often wait. */
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

/**
 * Several test files in one process, because loading the server costs more than most files’ tests. A shard requires its
 * files, so that the runner counts each test. All are loaded before the first test begins; a file with a top-level
 * await is rejected: it would load while other tests run, whose clock may be mocked.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

interface Shards {
  files: string[]
  remove(): void
}

/** The share of files in the shards that start first. The other files are the smallest. */
const shareOfLargeShards = 0.75

/**
 * Shards in start order for this many concurrent processes: first one large shard for each, because each process loads,
 * compiles and optimizes the same code again, for several seconds; then a few small ones, so that all processes end at
 * about the same time. Files that start processes, which take long, are spread evenly over the large shards.
 */
export function makeShards(testFiles: string[], processes: number): Shards {
  const folder = mkdtempSync(join(tmpdir(), 'postern-shards-'))
  const ordered = testFiles.toSorted((a, b) => statSync(b).size - statSync(a).size)
  const [long = [], others = []] = [true, false].map((isLong) =>
    ordered.filter((file) => startsProcesses(file) === isLong),
  )
  const sorted = [...long, ...others]
  const split = Math.floor(shareOfLargeShards * sorted.length)
  const large = distribute(sorted.slice(0, split), processes)
  const small = distribute(sorted.slice(split), Math.ceil(processes / 2))
  const files = [...large, ...small].map((shard, index) => {
    const path = join(folder, `shard-${String(index + 1).padStart(2, '0')}.cjs`)
    writeFileSync(path, shard.map(toLine).join(''))
    return path
  })
  return { files, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Back and forth, so that no shard always gets the larger file. */
function distribute(files: string[], count: number): string[][] {
  const shards = Array.from({ length: count }, (): string[] => [])
  for (const [index, file] of files.entries()) {
    const position = index % count
    const isForth = Math.floor(index / count) % 2 === 0
    shards[isForth ? position : count - 1 - position]?.push(file)
  }
  return shards
}

function startsProcesses(file: string): boolean {
  return /\b(startServerProcess|startCli|startDev|startPostgres)\b/.test(readFileSync(file, 'utf8'))
}

function toLine(file: string): string {
  return `require(${JSON.stringify(resolve(file))})\n`
}

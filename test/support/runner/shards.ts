/**
 * Several test files in one process, because loading the server costs more than most files’ tests. A shard requires its
 * files, so that the runner counts each test. All are loaded before the first test begins; a file with a top-level
 * await is rejected: it would load while other tests run, whose clock may be mocked.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

interface Shards {
  files: string[]
  remove(): void
}

interface WeighedFile {
  path: string
  weight: number
}

/** The share of files in the shards that start first. The other files are the smallest. */
const shareOfLargeShards = 0.8

/** How many times as long as the same bytes of another test: measured. */
const [weightOfProcesses, weightOfCrawls] = [2, 30]

/**
 * Shards in start order for this many concurrent processes: first one large shard for each, because each process loads,
 * compiles and optimizes the same code again, for several seconds; then a small one for each, so that all processes end
 * at about the same time.
 */
export function makeShards(testFiles: string[], processes: number): Shards {
  const folder = mkdtempSync(join(tmpdir(), 'postern-shards-'))
  const weighed = testFiles.map((path) => ({ path, weight: weigh(path) }))
  const sorted = weighed.toSorted((a, b) => b.weight - a.weight)
  const split = Math.floor(shareOfLargeShards * sorted.length)
  const large = distribute(sorted.slice(0, split), processes)
  const small = distribute(sorted.slice(split), processes)
  const files = [...large, ...small].map((shard, index) => {
    const path = join(folder, `shard-${String(index + 1).padStart(2, '0')}.cjs`)
    writeFileSync(path, shard.map(toLine).join(''))
    return path
  })
  return { files, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Each file to the shard that has the least so far. */
function distribute(files: WeighedFile[], count: number): string[][] {
  const shards = Array.from({ length: count }, (): WeighedFile[] => [])
  for (const file of files) {
    const [least] = shards.toSorted((a, b) => sumWeights(a) - sumWeights(b))
    least?.push(file)
  }
  return shards.map((shard) => shard.map(({ path }) => path))
}

const sumWeights = (files: WeighedFile[]): number =>
  files.reduce((sum, { weight }) => sum + weight, 0)

/** A crawl has few lines and presses every button of many pages. */
function weigh(path: string): number {
  const text = readFileSync(path, 'utf8')
  if (/\bexplorer\(/.test(text)) return weightOfCrawls * text.length
  return (startsProcesses(text) ? weightOfProcesses : 1) * text.length
}

function startsProcesses(text: string): boolean {
  return /\b(startServerProcess|startCli|startDev|startPostgres)\b/.test(text)
}

function toLine(file: string): string {
  return `require(${JSON.stringify(resolve(file))})\n`
}

/**
 * Several test files in one process: loading the house costs more than most files' tests.
 * A shard is a module that imports its files, so that the runner still sees, and counts, every single test.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const filesPerShard = 10

export interface Shards {
  files: string[]
  remove(): void
}

/** Neighbours, which tend to be alike in cost, go to different shards. */
export function makeShards(testFiles: string[]): Shards {
  const folder = mkdtempSync(join(tmpdir(), 'postern-shards-'))
  const count = Math.ceil(testFiles.length / filesPerShard)
  const files = Array.from({ length: count }, (_, shard) => {
    const imports = testFiles
      .filter((_, index) => index % count === shard)
      .map((file) => `import ${JSON.stringify(pathToFileURL(resolve(file)).href)}\n`)
    const path = join(folder, `shard-${shard + 1}.mjs`)
    writeFileSync(path, imports.join(''))
    return path
  })
  return { files, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/**
 * `node scripts/image-content.ts`: prints number and size of the files in the container image above its base, and fails
 * for a file that does not belong there.
 */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import type { Lock } from './release/lock-file.ts'
import { misplaced } from './release/misplaced.ts'
import { programFiles } from './release/program-files.ts'

const root = join(import.meta.dirname, '..')
/** Base image and application together, compressed. */
const limitMiB = 150
/** `node:24-slim` of linux/amd64, compressed and rounded up. */
const baseMiB = 80

const program = programFiles(root)
const packages = productionFiles()
const sizes = [...program, ...packages].map((file) => measureSize(join(root, file)))
const total = (kind: 'plain' | 'compressed') =>
  sizes.reduce((sum, size) => sum + size[kind], 0) / 2 ** 20
const problems = program
  .filter(misplaced)
  .map((file) => `${file} does not belong into the image: exclude it in .dockerignore.`)
if (baseMiB + total('compressed') > limitMiB) {
  problems.push(`The image is above ${limitMiB} MiB.`)
}
console.log(
  `image: ${sizes.length} files, ${total('plain').toFixed(1)} MiB, ${total('compressed').toFixed(1)} MiB compressed, plus the base image (about ${baseMiB} MiB)`,
)
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1

/** What `npm ci --omit=dev` installs on this platform. */
function productionFiles(): string[] {
  const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const folders = Object.entries(lock.packages)
    .filter(([folder, { dev }]) => folder !== '' && !dev && existsSync(join(root, folder)))
    .map(([folder]) => folder)
  return folders.flatMap((folder) =>
    globSync(`${folder}/**/*`, { cwd: root, exclude: [`${folder}/**/node_modules/**`] }).filter(
      (file) => statSync(join(root, file)).isFile(),
    ),
  )
}

function measureSize(file: string) {
  const content = readFileSync(file)
  return { plain: content.length, compressed: gzipSync(content, { level: 1 }).length }
}

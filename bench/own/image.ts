/** A server as in the container image, built from a checkout. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readFile, symlink } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { promisify } from 'node:util'

import { stripTypes } from '../../deploy/strip-types.ts'
import { ignoredBy } from '../../scripts/release/ignored-by.ts'

const ignored = join(import.meta.dirname, '../../.dockerignore')

/** Creates the folder `to`. `more` are additional files. */
export async function makeImage(from: string, to: string, more: readonly string[] = []) {
  const isLeftOut = ignoredBy(await readFile(ignored, 'utf8'))
  await cp(from, to, { recursive: true, filter: (path) => !isLeftOut(relative(from, path)) })
  for (const file of more) await cp(file, join(to, basename(file)))
  await symlink(join(from, 'node_modules'), join(to, 'node_modules'))
  const console = join(to, 'deploy/build-console.ts')
  // An older checkout to compare with has none.
  if (existsSync(console)) await promisify(execFile)(process.execPath, [console])
  stripTypes(to)
}

/** The variables that the Dockerfile sets, for an image in this folder. */
export const imageSettings = (folder: string) => ({
  NODE_OPTIONS: `--import=${join(folder, 'deploy/without-types.mjs')}`,
  NODE_DISABLE_COMPILE_CACHE: '1',
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TRIM_THRESHOLD_: '131072',
})

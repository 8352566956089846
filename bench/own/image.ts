/** A server as in the container image, built from a checkout. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { basename, join, relative } from 'node:path'
import { promisify } from 'node:util'

import { ignoredBy } from '../../scripts/release/ignored-by.ts'

const run = promisify(execFile)

/** Creates the folder `to`. */
export async function makeImage(from: string, to: string) {
  const isLeftOut = ignoredBy(await readFile(join(from, '.dockerignore'), 'utf8'))
  await cp(from, to, { recursive: true, filter: (path) => !isLeftOut(relative(from, path)) })
  await symlink(join(from, 'node_modules'), join(to, 'node_modules'))
  const console = join(to, 'deploy/build-console.ts')
  // An older checkout to compare with has none.
  if (existsSync(console)) await run(process.execPath, [console])
  const isOlder = existsSync(olderProgram(to))
  await run(
    process.execPath,
    isOlder ? [olderProgram(to), to] : [join(to, 'deploy/strip-types.mjs')],
  )
}

/** Adds a module without its types to an image. Returns its path. */
export async function addModule(image: string, file: string): Promise<string> {
  const added = join(image, `${basename(file, '.ts')}.mjs`)
  await writeFile(added, stripTypeScriptTypes(await readFile(file, 'utf8')))
  return added
}

/** The variables that the Dockerfile of an older checkout sets; today's sets none that matter here. */
export function imageSettings(image: string): Record<string, string> {
  if (!existsSync(olderProgram(image))) return {}
  return {
    NODE_OPTIONS: `--import=${join(image, 'deploy/without-types.mjs')}`,
    NODE_DISABLE_COMPILE_CACHE: '1',
    MALLOC_MMAP_THRESHOLD_: '32768',
    MALLOC_TRIM_THRESHOLD_: '131072',
  }
}

/** Until 2026-11-29, the files of the image themselves were replaced. */
const olderProgram = (image: string) => join(image, 'deploy/strip-types.ts')

/** The files of the repository that a server needs: the build context of the container image. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { ignoredBy } from './ignored-by.ts'

/** Tracked files only: a local file never gets into a release. */
export function trackedFiles(root: string): string[] {
  const names = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  return names.split('\0').filter((name) => name !== '')
}

/** Sorted. The .dockerignore decides. */
export function programFiles(root: string): string[] {
  const isIgnored = ignoredBy(readFileSync(join(root, '.dockerignore'), 'utf8'))
  return trackedFiles(root)
    .filter((path) => !isIgnored(path))
    .toSorted()
}

/** What an operator reads on the machine: the documentation, and every file that it links. */
const documentation =
  /^[^/]+\.md$|^(LICENSE|Dockerfile|docker-compose\.yml)$|^(docs|examples|deploy)\/|^mail\/languages\//

/** Sorted. */
export function documentationFiles(root: string): string[] {
  return trackedFiles(root)
    .filter((path) => documentation.test(path))
    .toSorted()
}

export function copyFiles(files: readonly string[], from: string, to: string): void {
  for (const file of files) {
    mkdirSync(dirname(join(to, file)), { recursive: true })
    cpSync(join(from, file), join(to, file))
  }
}

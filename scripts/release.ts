/**
 * `npm run release -- --dry-run`: builds the artifacts of a release in dist/release. Without --dry-run it also requires a
 * clean working tree and `npm run release:check`, and creates the tag, whose push publishes (docs/releasing.md).
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { buildRelease } from './release/build.ts'

const root = join(import.meta.dirname, '..')
const to = join(root, 'dist/release')
const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } })
const { version }: { version: string } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)
const tag = `v${version}`

void release()

async function release(): Promise<void> {
  const problem = values['dry-run'] ? undefined : obstacle()
  if (problem !== undefined) {
    console.error(problem)
    process.exitCode = 1
    return
  }
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  for (const { name, bytes, sha256 } of await buildRelease({ root, to })) {
    console.log(`${sha256.slice(0, 16)}  ${(bytes / 2 ** 20).toFixed(1).padStart(6)} MiB  ${name}`)
  }
  writeFileSync(join(root, 'dist/RELEASE_NOTES.md'), releaseNotes())
  if (values['dry-run']) return
  git('tag', '--annotate', tag, '--message', `Postern ${version}`)
  console.log(
    `\nThe tag ${tag} is created. This command publishes the release:\n  git push origin ${tag}`,
  )
}

/** The section of CHANGELOG.md. */
function releaseNotes(): string {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const sections = changelog.split(/^(?=## )/m)
  return sections.find((section) => section.startsWith(`## ${version}`)) ?? ''
}

/** What prevents a release, in one sentence. */
function obstacle(): string | undefined {
  if (git('status', '--porcelain') !== '') {
    return 'The working tree has changes: commit or remove them.'
  }
  if (git('tag', '--list', tag) !== '') {
    return `The tag ${tag} exists: set a new version in package.json.`
  }
  try {
    execFileSync(process.execPath, [join(root, 'scripts/release-check.ts')], { stdio: 'inherit' })
    return undefined
  } catch {
    return 'npm run release:check found problems.'
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

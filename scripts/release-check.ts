/**
 * `npm run release:check [revision]`: compares the working tree with the last release (the newest tag v*, or the given
 * revision) and reports violations of semantic versioning and missing release files.
 */
import { execFileSync } from 'node:child_process'

import { brokenPromises, changeBetween } from './release/compare.ts'
import { readRelease, revision, workingTree } from './release/read.ts'

const last = process.argv[2] ?? newestTag()
const tree = workingTree()
const next = readRelease(tree)
const problems = [...(last ? against(last) : []), ...changelogProblems(), ...schemaProblems()]
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else console.log(`${next.version} is compatible${last ? ` with ${last}` : ''}`)

function against(name: string): string[] {
  const before = readRelease(revision(name))
  if (before.version === next.version) return [`package.json still says ${next.version}.`]
  const change = changeBetween(before.version, next.version)
  return brokenPromises(before, next).map((sentence) => `${change} release: ${sentence}`)
}

function changelogProblems(): string[] {
  const changelog = tree.read('CHANGELOG.md') ?? ''
  const isReported = changelog.includes(`## ${next.version}`)
  return isReported ? [] : [`CHANGELOG.md has no section "## ${next.version}".`]
}

/** A database of each release is stored, from which later ones are tested to migrate. */
function schemaProblems(): string[] {
  const files = [
    `test/db/fixtures/schemas/${next.version}.sql`,
    `test/config/releases/${next.version}.json`,
  ]
  return files
    .filter((file) => !tree.read(file))
    .map((file) => `${file} is missing: npm run schema:keep writes it.`)
}

function newestTag(): string | undefined {
  const tags = execFileSync('git', ['tag', '--list', 'v*', '--sort=-version:refname'])
  return tags.toString().split('\n')[0] || undefined
}

/** Defaults of earlier releases (test/config/releases): `npm run doctor -- --upgrade` reports each change. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { suite, test } from 'node:test'

import { variableChanges } from '../../config/changes.ts'
import { variableEntries } from '../../config/groups/index.ts'
import { projectVariables } from '../../config/names.ts'
import { readRelease, workingTree } from '../../scripts/release/read.ts'

const folder = join(import.meta.dirname, 'releases')
const files = globSync(join(folder, '*.json'))
const { variables } = readRelease(workingTree())
const reported = new Set<string>(variableChanges.map(({ variable }) => variable))
const ownName = new Map(
  variableEntries.flatMap(([variable, schema]) =>
    projectVariables(variable, schema).map((name) => [name, variable] as const),
  ),
)

suite('changes of variables', () => {
  test('have an earlier release to compare with', () => assert.ok(files.length > 0))

  for (const file of files) {
    const before: Record<string, string> = JSON.parse(readFileSync(file, 'utf8'))
    const names = Object.entries(before)

    test(`keep every variable of ${basename(file, '.json')}, renamed ones as aliases`, () => {
      const lost = names.filter(([name]) => !ownName.has(name))
      assert.deepEqual(lost, [])
    })

    test(`include every default that differs from ${basename(file, '.json')}`, () => {
      const silent = names.filter(([name, value]) => {
        const variable = ownName.get(name) ?? name
        return variables.get(variable) !== value && !reported.has(variable)
      })
      assert.deepEqual(silent, [])
    })
  }
})

/**
 * Documents that take each parser as long as their size permits: none may stop the server for other clients. The time
 * is that of the processor, and the limit five times the budget, so that a slow machine does not fail.
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { budgetEnv, listLoads } from '../../support/parser-budget/index.ts'
import { type Load, smallBytes } from '../../support/parser-budget/load.ts'
import { measureBlocked } from '../../support/parser-budget/measure.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { build } from '../../support/server.ts'

const maxMilliseconds = 250
const attempts = 3

const parsers = [
  'SAML response',
  'SAML logout',
  'SAML metadata',
  'SCIM PATCH',
  'SCIM filter',
  'SCIM resource',
  'JSON body',
  'JSON body of an admin',
  'CSV import',
  'JWKS',
  'JWKS of a client',
  'discovery document',
]

suite('64 KB and 1 MB of anything', () => {
  const ending = endingOfSuite()
  let loads: Map<string, Load[]>

  before(async () => {
    const { app } = await build(ending, { env: budgetEnv })
    loads = await listLoads(app)
    assert.deepEqual([...loads.keys()].toSorted(), parsers.toSorted())
  })

  for (const parser of parsers) {
    test(`is read or rejected as ${parser} in a fraction of a second`, async () => {
      for (const load of loads.get(parser) ?? []) {
        const milliseconds = await measure(load)
        const size = load.bytes === smallBytes ? '64 KB' : '1 MB'
        assert.ok(milliseconds < maxMilliseconds, `${size} of ${load.title}: ${milliseconds} ms`)
      }
    })
  }
})

/** Another attempt after a long one: the code may not have been compiled, or memory was collected. */
async function measure({ run }: Load): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < attempts && least >= maxMilliseconds; attempt += 1) {
    const { cpuMilliseconds } = await measureBlocked(run)
    least = Math.min(least, cpuMilliseconds)
  }
  return least
}

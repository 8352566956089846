import assert from 'node:assert/strict'
import { test } from 'node:test'

import { freePort } from './support/processes/free-port.ts'

test('freePort returns a port to one caller only, though it is not in use yet', async (t) => {
  const random = Math.random
  const drawn = [0.5, 0.5]
  t.mock.method(Math, 'random', () => drawn.shift() ?? random())

  assert.notEqual(await freePort(), await freePort())
})

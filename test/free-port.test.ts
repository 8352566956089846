import assert from 'node:assert/strict'
import { test } from 'node:test'

import { freePort } from './support/free-port.ts'

test('a free port is given to one caller only, though nobody listens on it yet', async (t) => {
  const random = Math.random
  const drawn = [0.5, 0.5]
  t.mock.method(Math, 'random', () => drawn.shift() ?? random())

  assert.notEqual(await freePort(), await freePort())
})

/** Every operation of the API document, asked for by somebody who brings no token. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { endingOfSuite } from '../support/ending.ts'
import { everyFactor } from '../support/factors.ts'
import { passkeysOn } from '../support/passkeys.ts'
import { outcomeOf } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'

interface Operation {
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  isGuarded: boolean
}

/** What is switched off answers otherwise. */
const env = {
  ...everyFactor,
  ...passkeysOn,
  AUTH_ADMIN_IMPERSONATION_ENABLED: 'true',
  AUTH_EVENTS_ENABLED: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  AUTH_USER_SELF_DELETE_ENABLED: 'true',
}

suite('without a token', () => {
  const ending = endingOfSuite()
  let app: App
  let operations: Operation[]
  before(async () => {
    app = (await build(ending, { env })).app
    operations = await operationsOf(app)
  })

  const ask = ({ method, url }: Operation) =>
    app.inject({ method, url, ...(method !== 'GET' && { payload: {} }) })

  test('what needs one is refused with 401', async () => {
    const guarded = operations.filter(({ isGuarded }) => isGuarded)
    const needed = ['GET /user', 'PUT /user', 'GET /reauthenticate', 'POST /logout']
    const names = guarded.map(({ name }) => name)
    assert.deepEqual(
      needed.filter((name) => !names.includes(name)),
      [],
    )
    for (const operation of guarded) {
      const outcome = outcomeOf(await ask(operation))
      assert.deepEqual(outcome, [401, 'no_authorization'], operation.name)
    }
  })

  test('nothing else is', async () => {
    const open = operations.filter(({ isGuarded }) => !isGuarded)
    const names = open.map(({ name }) => name)
    for (const name of ['POST /signup', 'POST /token', 'GET /settings']) {
      assert.ok(names.includes(name), name)
    }
    for (const operation of open) {
      assert.notEqual((await ask(operation)).statusCode, 401, operation.name)
    }
  })
})

async function operationsOf(app: App): Promise<Operation[]> {
  const { paths } = (await app.inject('/openapi.json')).json<{
    paths: Record<string, Record<string, { security?: object[] }>>
  }>()
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, { security }]) => {
      const method = name.toUpperCase() as Operation['method']
      const url = path.replaceAll(/\{\w+\}/g, crypto.randomUUID())
      return { name: `${method} ${path}`, method, url, isGuarded: security !== undefined }
    }),
  )
}

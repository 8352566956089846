/** Each operation of the API document, requested without a token. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { everyFactor } from '../../support/factors/factors.ts'
import { passkeysOn } from '../../support/factors/passkeys.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'

interface Operation {
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  isGuarded: boolean
}

/** Disabled features return other errors. */
const env = {
  ...everyFactor,
  ...passkeysOn,
  AUTH_ADMIN_IMPERSONATION_ENABLED: 'true',
  AUTH_EVENTS_ENABLED: 'true',
  AUTH_ORGANIZATIONS_ENABLED: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  AUTH_USER_SELF_DELETE_ENABLED: 'true',
  AUTH_USERNAMES_ENABLED: 'true',
}

suite('requests without a token', () => {
  const ending = endingOfSuite()
  let app: App
  let operations: Operation[]
  before(async () => {
    app = (await build(ending, { env })).app
    operations = await listOperations(app)
  })

  const send = ({ method, url }: Operation) =>
    app.inject({ method, url, ...(method !== 'GET' && { payload: {} }) })

  test('are rejected with 401 on protected operations', async () => {
    const guardedOperations = operations.filter(({ isGuarded }) => isGuarded)
    const needed = ['GET /user', 'PUT /user', 'GET /reauthenticate', 'POST /logout']
    const names = guardedOperations.map(({ name }) => name)
    assert.deepEqual(
      needed.filter((name) => !names.includes(name)),
      [],
    )
    for (const operation of guardedOperations) {
      const outcome = statusAndCode(await send(operation))
      assert.deepEqual(outcome, [401, 'no_authorization'], operation.name)
    }
  })

  test('are not rejected with 401 on public operations', async () => {
    const open = operations.filter(({ isGuarded }) => !isGuarded)
    const names = open.map(({ name }) => name)
    for (const name of ['POST /signup', 'POST /token', 'GET /settings']) {
      assert.ok(names.includes(name), name)
    }
    for (const operation of open) {
      assert.notEqual((await send(operation)).statusCode, 401, operation.name)
    }
  })
})

async function listOperations(app: App): Promise<Operation[]> {
  const { paths } = (await app.inject('/openapi.json')).json<{
    paths: Record<string, Record<string, { security?: object[] }>>
  }>()
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, { security }]) => {
      const method = name.toUpperCase() as Operation['method']
      const url = path.replaceAll(/\{\w+\}/g, crypto.randomUUID())
      return { name: `${method} ${path}`, method, url, isGuarded: (security?.length ?? 0) > 0 }
    }),
  )
}

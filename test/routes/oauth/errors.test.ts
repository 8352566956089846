/** Every error below /oauth has the members that OAuth clients read, beside GoTrue's. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import type { RouteOptions } from 'fastify'

import * as catalogue from '../../../schemas/errors.ts'
import { ApiError } from '../../../schemas/errors.ts'
import { asAdmin } from '../../support/admin.ts'
import {
  basic,
  createClient,
  exchangeCode,
  obtainCode,
  openRegistration,
  ownConsentPage,
  postForm,
  refreshTokens,
  signInClient,
} from '../../support/oauth-server.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { type App, build } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'

/** Tried in turn, because each function of the catalogue has its own. */
const argumentLists: unknown[][] = [
  ['a "text"'],
  ['x', 422],
  [400],
  [400, undefined, 'x'],
  [400, 'x'],
  ['x', { each: 1, together: 2 }],
  ['slow_down'],
  ['totp'],
  ['access_denied', 'x'],
  [['x']],
  [new ApiError(400, 'refresh_token_not_found', 'x')],
]

type Make = (...given: unknown[]) => unknown

/** One error of each function; classes and `isErrorWithCode` make none. */
function makeEach(): ApiError[] {
  return Object.entries(catalogue).flatMap(([name, make]): ApiError[] => {
    if (typeof make !== 'function' || /^([A-Z]|is[A-Z])/.test(name)) return []
    const made = argumentLists.map((given) => tryToMake(make as Make, given)).find(isComplete)
    assert.ok(made, `${name} needs other arguments`)
    return [made]
  })
}

function tryToMake(make: Make, given: unknown[]): unknown {
  try {
    return make(...given)
  } catch {
    return undefined
  }
}

function isComplete(made: unknown): made is ApiError {
  if (!(made instanceof ApiError) || !Number.isInteger(made.status)) return false
  const { errorCode, message, details } = made
  const { error, description } = details.oauth ?? { error: '', description: '' }
  const texts = [errorCode, message, description]
  const isText = texts.every((text) => typeof text === 'string') && message !== ''
  return isText && /^[a-z_ ]*$/.test(error)
}

suite('errors below /oauth', () => {
  const ending = endingOfSuite()
  let app: App
  let routes: RouteOptions[]
  let injected: ApiError | undefined
  before(async () => {
    const prepare = (made: App) => {
      routes = made.openapi.routes.filter(({ url }) => url.startsWith('/oauth/'))
      for (const route of routes) {
        const known = [route.onRequest ?? []].flat()
        route.onRequest = [
          async () => {
            if (injected) throw injected
          },
          ...known,
        ]
      }
    }
    app = (await build(ending, { env: { ...openRegistration, ...ownConsentPage }, prepare })).app
  })

  const checkMembers = (body: Record<string, unknown>, where: string) => {
    assert.match(String(body.error), /^[a-z_ ]+$/, where)
    assert.match(String(body.error_description), /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, where)
  }

  test('have them for each error of the catalogue at each endpoint', async () => {
    const errors = makeEach()
    assert.ok(errors.length > 150 && routes.length > 15, `${errors.length} ${routes.length}`)
    try {
      for (const { method, url } of routes) {
        for (const error of errors) {
          injected = error
          const path = url.replace(/:\w+/, crypto.randomUUID())
          const response = await app.inject({ method: [method].flat()[0] as 'GET', url: path })
          const where = `${method} ${url} ${error.errorCode}`
          const body = response.json()
          checkMembers(body, where)
          assert.deepEqual(
            [response.statusCode, body.code, body.error_code, body.msg],
            [error.status, error.status, error.errorCode, error.message],
            where,
          )
        }
      }
    } finally {
      injected = undefined
    }
  })

  test('have them for bodies, methods and paths that no endpoint accepts', async () => {
    const headers = { 'content-type': 'application/json' }
    const posts = routes.flatMap(({ method, url }) => ([method].flat().includes('POST') ? url : []))
    const requests = [
      ...posts.flatMap((url) =>
        ['{', '[]', '', '"x"'].map((payload) => ({ method: 'POST', url, payload }) as const),
      ),
      ...routes.map(({ url }) => ({ method: 'PATCH', url }) as const),
      { method: 'GET', url: '/oauth/nothing' } as const,
      { method: 'GET', url: '/oauth/token/%zz' } as const,
      { method: 'POST', url: '/oauth/token', payload: 'x'.repeat(2_000_000) } as const,
    ]
    for (const { url, ...sent } of requests) {
      const path = url.replace(/:\w+/, crypto.randomUUID())
      const response = await app.inject({ headers, ...sent, url: path })
      if (response.statusCode < 400) continue
      checkMembers(response.json(), `${sent.method} ${path} ${response.body}`)
    }
    const broken = await app.inject({ method: 'POST', url: '/oauth/token', headers, payload: '{' })
    assert.deepEqual([broken.statusCode, broken.json().error], [400, 'invalid_request'])
    const wrong = await app.inject('/oauth/token')
    assert.deepEqual([wrong.statusCode, wrong.json().error], [405, 'invalid_request'])
  })

  test('are invalid_grant for a refresh token that is unknown, used or revoked', async () => {
    const client = await createClient(app)
    const user = await signUpUser(app)
    const refresh = async (token: string) => {
      const response = await refreshTokens(app, client, token)
      const { error, error_code } = response.json()
      return [response.statusCode, error, error_code]
    }
    const unknown = [
      ['x', 'validation_failed'],
      ['abcdefghij23', 'refresh_token_not_found'],
      ['x'.repeat(60), 'validation_failed'],
    ] as const
    for (const [token, code] of unknown) {
      assert.deepEqual(await refresh(token), [400, 'invalid_grant', code])
    }
    const used = await signInClient(app, client, user)
    const next = (await refreshTokens(app, client, used.refresh_token)).json()
    await refreshTokens(app, client, next.refresh_token)
    const reused = await refresh(used.refresh_token)
    assert.deepEqual(reused, [400, 'invalid_grant', 'refresh_token_already_used'])
    const revoked = await signInClient(app, client, user)
    await postForm(app, '/oauth/revoke', { token: revoked.refresh_token }, basic(client))
    const ended = await refresh(revoked.refresh_token)
    assert.deepEqual(ended, [400, 'invalid_grant', 'refresh_token_not_found'])
  })

  test('are invalid_grant for a code or refresh token of a banned or deleted user', async () => {
    const client = await createClient(app)
    for (const end of ['ban', 'delete'] as const) {
      const user = await signUpUser(app)
      const { code, verifier } = await obtainCode(app, client, user)
      const tokens = await signInClient(app, client, user)
      const path = `/admin/users/${user.user.id}`
      const ended =
        end === 'ban'
          ? await asAdmin(app, 'PUT', path, { ban_duration: '1h' })
          : await asAdmin(app, 'DELETE', path)
      assert.equal(ended.statusCode, 200, ended.body)
      const refreshed = await refreshTokens(app, client, tokens.refresh_token)
      assert.deepEqual([refreshed.statusCode, refreshed.json().error], [400, 'invalid_grant'], end)
      const exchanged = await exchangeCode(app, client, code, { code_verifier: verifier })
      assert.deepEqual([exchanged.statusCode, exchanged.json().error], [400, 'invalid_grant'], end)
    }
  })
})

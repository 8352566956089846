/**
 * An id_token that was made for somebody else's app is worth nothing here. For an issuer on the operator's list the
 * audience was whatever `client_id` the request named, so a token stolen by any other app opened a session.
 */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { JWTPayload } from 'jose'

import { ConfigError } from '../../plugins/config/mistake.ts'
import { read } from '../plugins/config/environment.ts'
import { configOf } from '../support/config.ts'
import { cases } from '../support/providers/documented.ts'
import { startFakeProvider } from '../support/providers/fake-provider.ts'
import { signIdToken } from '../support/providers/keys.ts'
import { build } from '../support/server.ts'

const issuers = 'AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS'
const audiences = 'AUTH_EXTERNAL_ID_TOKEN_AUDIENCES'

suite('an id_token of an issuer on the list', () => {
  const stolen: [what: string, aud: string | string[], clientId: string][] = [
    ['of another app, which the request names', 'game', 'game'],
    ['of another app, while the request names ours', 'game', 'app'],
    ['of our app, while the request names another', 'app', 'game'],
    ['of our second app, while the request names the first', 'app two', 'app'],
    ['of nobody in particular', [], 'app'],
    ['of a name that only begins like ours', 'app.evil', 'app.evil'],
  ]
  test('opens a session for a configured audience only', async (t) => {
    const { exchange } = await start(t)
    for (const [what, aud, clientId] of stolen) {
      await t.test(`${what}: refused`, async () => {
        const response = await exchange({ aud }, clientId)
        assert.equal(response.statusCode, 400, response.body)
        assert.equal(response.json().error_code, 'validation_failed')
      })
    }
    for (const aud of ['app', 'app two', ['x', 'app']]) {
      await t.test(`${JSON.stringify(aud)} is ours`, async () => {
        const response = await exchange({ aud }, [aud].flat().at(-1) ?? '')
        assert.equal(response.statusCode, 200, response.body)
      })
    }
  })
})

suite('an issuer that was allowed under the name that GoTrue has for the list', () => {
  test('is none until it has an audience; the server starts all the same', async (t) => {
    const foreign = issuers.replace('AUTH', 'GOTRUE')
    const { exchange } = await start(t, (issuer) => ({ [foreign]: issuer }))
    const response = await exchange({ aud: 'app' }, 'app')
    assert.equal(response.statusCode, 400, response.body)
    assert.equal(response.json().error_code, 'validation_failed')
  })

  test('is told in one line', () => {
    const { notices } = read({ [issuers.replace('AUTH', 'GOTRUE')]: 'https://a.test' })
    const lines = notices.filter((notice) => notice.includes(audiences))
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /https:\/\/a\.test.*switched off/)
  })
})

suite('the audiences of issuers on the list', () => {
  const right: Record<string, Record<string, string>> = {
    'nothing is set': {},
    'only Apple and Google, which have client ids of their own': {
      [issuers]: 'https://accounts.google.com',
    },
    'an audience': { [issuers]: 'https://a.test', [audiences]: 'https://a.test=app' },
    'an enabled provider by its issuer': {
      [issuers]: 'https://id.acme.test',
      AUTH_EXTERNAL_OIDC_ACME_ISSUER: 'https://id.acme.test',
      AUTH_EXTERNAL_OIDC_ACME_CLIENT_ID: 'id',
      AUTH_EXTERNAL_OIDC_ACME_ID_TOKEN_ONLY: 'true',
      AUTH_EXTERNAL_OIDC_ACME_REDIRECT_URI: 'https://auth.test/callback',
    },
  }
  for (const [what, variables] of Object.entries(right)) {
    test(`${what}: the server starts`, () => {
      assert.ok(configOf(variables, false))
    })
  }

  const wrong: Record<string, Record<string, string>> = {
    'no audience': { [issuers]: 'https://a.test' },
    'an audience of another issuer': {
      [issuers]: 'https://a.test,https://b.test',
      [audiences]: 'https://b.test=app',
    },
    'an audience of an issuer that is not on the list': { [audiences]: 'https://c.test=app' },
    'a provider by its issuer that is switched off': {
      ...right['an enabled provider by its issuer'],
      AUTH_EXTERNAL_OIDC_ACME_ENABLED: 'false',
    },
    'nothing but separators': { [issuers]: 'https://a.test', [audiences]: 'https://a.test=|' },
    'no pair': { [issuers]: 'https://a.test', [audiences]: 'app' },
  }
  for (const [what, variables] of Object.entries(wrong)) {
    test(`${what}: the start is refused`, () => {
      assert.throws(
        () => configOf(variables, false),
        (error) => error instanceof ConfigError && error.mistakes[0]?.variable === audiences,
      )
    })
  }
})

const listed = (issuer: string): Record<string, string> => ({
  [issuers]: issuer,
  [audiences]: `${issuer}=app|app two`,
})

/** In dev mode, where an issuer may be on loopback. */
async function start(t: TestContext, variables = listed) {
  const documented = cases.google?.documented
  assert.ok(documented)
  const { issuer } = await startFakeProvider(t, documented)
  const { app } = await build(t, { dev: true, env: variables(issuer) })
  const claims = { iss: issuer, sub: 'ann-1', email: 'ann@ex.test', email_verified: true }
  async function exchange(more: JWTPayload, client_id: string) {
    const id_token = await signIdToken({ ...claims, ...more }, new Date())
    const payload = { id_token, issuer, client_id }
    return app.inject({ method: 'POST', url: '/token?grant_type=id_token', payload })
  }
  return { exchange }
}

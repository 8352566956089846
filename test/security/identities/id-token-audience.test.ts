/**
 * An id_token issued for another app is rejected. The audience of an allowed issuer is configured and not taken from
 * `client_id` of the request, or a token stolen from another app would sign in.
 */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { JWTPayload } from 'jose'

import { ConfigError } from '../../../config/core/config-error.ts'
import { read } from '../../config/environment.ts'
import { testConfig } from '../../support/config.ts'
import { cases } from '../../support/providers/documented.ts'
import { startFakeProvider } from '../../support/providers/fake-provider.ts'
import { signIdToken } from '../../support/providers/keys.ts'
import { build } from '../../support/server.ts'

const issuers = 'AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS'
const audiences = 'AUTH_EXTERNAL_ID_TOKEN_AUDIENCES'

suite('id_token of an allowed issuer', () => {
  const stolen: [what: string, aud: string | string[], clientId: string][] = [
    ['for another app named by the request', 'game', 'game'],
    ['for another app while the request names ours', 'game', 'app'],
    ['for our app while the request names another', 'app', 'game'],
    ['for our second app while the request names the first', 'app two', 'app'],
    ['without an audience', [], 'app'],
    ['for a name that starts like ours', 'app.evil', 'app.evil'],
  ]
  test('is accepted for configured audiences only', async (t) => {
    const { exchange } = await start(t)
    for (const [what, aud, clientId] of stolen) {
      await t.test(`rejects a token ${what}`, async () => {
        const response = await exchange({ aud }, clientId)
        assert.equal(response.statusCode, 400, response.body)
        assert.equal(response.json().error_code, 'validation_failed')
      })
    }
    for (const aud of ['app', 'app two', ['x', 'app']]) {
      await t.test(`accepts a token for ${JSON.stringify(aud)}`, async () => {
        const response = await exchange({ aud }, [aud].flat().at(-1) ?? '')
        assert.equal(response.statusCode, 200, response.body)
      })
    }
  })
})

suite('allowed issuer under GoTrue’s variable', () => {
  test('is disabled until it has an audience, and the server starts', async (t) => {
    const foreign = issuers.replace('AUTH', 'GOTRUE')
    const { exchange } = await start(t, (issuer) => ({ [foreign]: issuer }))
    const response = await exchange({ aud: 'app' }, 'app')
    assert.equal(response.statusCode, 400, response.body)
    assert.equal(response.json().error_code, 'validation_failed')
  })

  test('logs one warning', () => {
    const { notices } = read({ [issuers.replace('AUTH', 'GOTRUE')]: 'https://a.test' })
    const lines = notices.filter((notice) => notice.includes(audiences))
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /https:\/\/a\.test.*disabled/)
  })
})

suite('audiences of allowed issuers', () => {
  const right: Record<string, Record<string, string>> = {
    nothing: {},
    'Apple and Google only, which have client ids': {
      [issuers]: 'https://accounts.google.com',
    },
    'an audience': { [issuers]: 'https://a.test', [audiences]: 'https://a.test=app' },
    'an enabled provider with the issuer': {
      [issuers]: 'https://id.acme.test',
      AUTH_EXTERNAL_OIDC_ACME_ISSUER: 'https://id.acme.test',
      AUTH_EXTERNAL_OIDC_ACME_CLIENT_ID: 'id',
      AUTH_EXTERNAL_OIDC_ACME_ID_TOKEN_ONLY: 'true',
      AUTH_EXTERNAL_OIDC_ACME_REDIRECT_URI: 'https://auth.test/callback',
    },
  }
  for (const [what, variables] of Object.entries(right)) {
    test(`starts with ${what}`, () => {
      assert.ok(testConfig(variables, false))
    })
  }

  const wrong: Record<string, Record<string, string>> = {
    'an issuer without audience': { [issuers]: 'https://a.test' },
    'the audience of another issuer': {
      [issuers]: 'https://a.test,https://b.test',
      [audiences]: 'https://b.test=app',
    },
    'the audience of an issuer that is not allowed': { [audiences]: 'https://c.test=app' },
    'a disabled provider with the issuer': {
      ...right['an enabled provider with the issuer'],
      AUTH_EXTERNAL_OIDC_ACME_ENABLED: 'false',
    },
    'separators only': { [issuers]: 'https://a.test', [audiences]: 'https://a.test=|' },
    'a malformed pair': { [issuers]: 'https://a.test', [audiences]: 'app' },
  }
  for (const [what, variables] of Object.entries(wrong)) {
    test(`rejects the start with ${what}`, () => {
      assert.throws(
        () => testConfig(variables, false),
        (error) => error instanceof ConfigError && error.issues[0]?.variable === audiences,
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

/** Provider outages: the client gets 503 soon, and the log names the provider. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { externalServer, providerEnv, verifiedProfile } from '../../support/external.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { client } from '../../support/providers/fake-provider.ts'
import { signIdToken } from '../../support/providers/keys.ts'
import { build } from '../../support/server.ts'
import { deadUrl, vendorServer } from '../../support/vendor-server.ts'

function issuerEnv(name: string, issuer: string): Record<string, string> {
  const prefix = `AUTH_EXTERNAL_OIDC_${name.toUpperCase()}`
  return {
    [`${prefix}_ISSUER`]: issuer,
    [`${prefix}_CLIENT_ID`]: client.id,
    [`${prefix}_SECRET`]: client.secret,
    [`${prefix}_REDIRECT_URI`]: client.redirectUri,
  }
}

suite('provider outage', () => {
  test('returns 503 within three seconds instead of a redirect', async (t) => {
    const addresses = {
      silent: (await vendorServer(t, 'hang')).url,
      dropping: (await vendorServer(t, 'drop')).url,
      stuck: (await vendorServer(t, 'stall')).url,
      maintained: (await vendorServer(t, { status: 503, text: 'later' })).url,
      absent: await deadUrl(),
    }
    const generic = Object.entries(addresses).map(([name, issuer]) => issuerEnv(name, issuer))
    const env = Object.assign(providerEnv('twitter', addresses.silent), ...generic)
    const lines: string[] = []
    const { app } = await externalServer(t, { env, lines, dev: true })
    const names = ['twitter', ...Object.keys(addresses)]

    await Promise.all(
      names.map((name) => isUnavailable(name, () => app.inject(`/authorize?provider=${name}`))),
    )
    assert.deepEqual(warnings(lines).toSorted(), names.toSorted())
    assert.deepEqual(givenUp(lines).toSorted(), ['silent', 'stuck', 'twitter'])

    // id_token clients get the same error.
    lines.length = 0
    const claims = { iss: addresses.silent, aud: client.id, sub: 'a' }
    const payload = { provider: 'silent', id_token: await signIdToken(claims, new Date()) }
    await isUnavailable('silent', () =>
      app.inject({ method: 'POST', url: '/token?grant_type=id_token', payload }),
    )
    assert.deepEqual(warnings(lines), ['silent'])
    assert.deepEqual(givenUp(lines), ['silent'])
  })

  test('returns 503 without a request when the metadata URL is in a private network', async (t) => {
    const inner = await vendorServer(t, { text: '{}' })
    const issuer = `https://localhost:${inner.port}`
    const env = { ...issuerEnv('acme', issuer), ...providerEnv('google', issuer) }
    const { app } = await build(t, { env })
    for (const name of ['acme', 'google']) {
      await isUnavailable(name, () => app.inject(`/authorize?provider=${name}`))
      const claims = { iss: issuer, aud: client.id, sub: 'a' }
      const payload = { provider: name, id_token: await signIdToken(claims, new Date()) }
      await isUnavailable(name, () =>
        app.inject({ method: 'POST', url: '/token?grant_type=id_token', payload }),
      )
    }
    assert.equal(inner.connections(), 0)
  })

  const broken = [
    ['/login/oauth/access_token', { status: 502, body: 'Bad gateway' }],
    ['/api/v3/user', { status: 503, body: '{}' }],
    ['/api/v3/user/emails', { status: 500, body: '{}' }],
  ] as const
  const lines: string[] = []
  const shared = shareServers((ending) => externalServer(ending, { lines }))
  for (const [path, response] of broken) {
    test(`redirects with temporarily_unavailable when ${path} fails after the redirect`, async () => {
      const server = await shared()
      lines.length = 0
      server.fakes.github.instead.set(path, response)
      const { query } = await server.finishSignIn(await server.startSignIn('github'))
      assert.equal(query.error, 'temporarily_unavailable')
      assert.equal(query.error_code, 'service_unavailable')
      assert.deepEqual(warnings(lines), ['github'])
      // The failed attempt leaves no state, and the next one works.
      server.fakes.github.instead.delete(path)
      const who = verifiedProfile('ann@ex.test', '7')
      assert.ok((await server.signInWith('github', who)).fragment.access_token)
    })
  }

  test('does not report an outage when the provider responds with an error', async () => {
    const server = await shared()
    lines.length = 0
    const body = JSON.stringify({ error: 'bad_verification_code' })
    server.fakes.github.instead.set('/login/oauth/access_token', { body })
    const { query } = await server.finishSignIn(await server.startSignIn('github'))
    assert.equal(query.error_code, 'unexpected_failure')
    assert.deepEqual(warnings(lines), [])
  })
})

interface Responded {
  statusCode: number
  headers: Record<string, unknown>
  json(): unknown
}

async function isUnavailable(provider: string, send: () => Promise<Responded>) {
  const response = await send()
  assert.equal(response.statusCode, 503, provider)
  assert.ok(Number(response.headers['retry-after']) > 0)
  const { error_code } = response.json() as { error_code: string }
  assert.equal(error_code, 'service_unavailable')
}

interface Entry {
  level: string
  provider?: string
  err?: { message: string }
}

/** Providers reported as down in the log. */
function warnings(lines: string[]): string[] {
  return entries(lines).flatMap(({ provider }) => provider ?? [])
}

/** Those of them that were not waited for any longer. */
function givenUp(lines: string[]): string[] {
  return entries(lines).flatMap(({ provider, err }) =>
    provider && err?.message === 'no answer within 2500 ms' ? provider : [],
  )
}

function entries(lines: string[]): Entry[] {
  return lines.map((line): Entry => JSON.parse(line)).filter(({ level }) => level === 'warn')
}

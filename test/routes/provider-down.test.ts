/** A provider that is down is no fault of this server: whoever asks hears so soon, and so does the log. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { externalServer, proven, providerEnv } from '../support/external.ts'
import { client } from '../support/providers/fake-provider.ts'
import { signIdToken } from '../support/providers/keys.ts'
import { build } from '../support/server.ts'
import { deadUrl, vendorServer } from '../support/vendor-server.ts'

function issuerEnv(name: string, issuer: string): Record<string, string> {
  const prefix = `AUTH_EXTERNAL_OIDC_${name.toUpperCase()}`
  return {
    [`${prefix}_ISSUER`]: issuer,
    [`${prefix}_CLIENT_ID`]: client.id,
    [`${prefix}_SECRET`]: client.secret,
    [`${prefix}_REDIRECT_URI`]: client.redirectUri,
  }
}

suite('a provider that is down', () => {
  test('503 within three seconds, before anybody is sent there', async (t) => {
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

    // Those who bring an id_token are told the same.
    lines.length = 0
    const claims = { iss: addresses.silent, aud: client.id, sub: 'a' }
    const payload = { provider: 'silent', id_token: await signIdToken(claims, new Date()) }
    await isUnavailable('silent', () =>
      app.inject({ method: 'POST', url: '/token?grant_type=id_token', payload }),
    )
    assert.deepEqual(warnings(lines), ['silent'])
    assert.deepEqual(givenUp(lines), ['silent'])
  })

  test('so is one whose metadata would be read in our own network, which is not asked', async (t) => {
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
  for (const [path, answer] of broken) {
    test(`at ${path}, when the browser has come back: temporarily_unavailable`, async (t) => {
      const lines: string[] = []
      const server = await externalServer(t, { lines })
      server.fakes.github.instead.set(path, answer)
      const { query } = await server.comeBack(await server.goTo('github'))
      assert.equal(query.error, 'temporarily_unavailable')
      assert.equal(query.error_code, 'service_unavailable')
      assert.deepEqual(warnings(lines), ['github'])
      // Nothing is left of the attempt, and the next one works.
      server.fakes.github.instead.delete(path)
      const who = proven('ann@ex.test', '7')
      assert.ok((await server.signInWith('github', who)).fragment.access_token)
    })
  }

  test('a provider that answers, and wrongly, is not called down', async (t) => {
    const lines: string[] = []
    const server = await externalServer(t, { lines })
    const body = JSON.stringify({ error: 'bad_verification_code' })
    server.fakes.github.instead.set('/login/oauth/access_token', { body })
    const { query } = await server.comeBack(await server.goTo('github'))
    assert.equal(query.error_code, 'unexpected_failure')
    assert.deepEqual(warnings(lines), [])
  })
})

interface Answered {
  statusCode: number
  headers: Record<string, unknown>
  json(): unknown
}

async function isUnavailable(provider: string, ask: () => Promise<Answered>) {
  const answer = await ask()
  assert.equal(answer.statusCode, 503, provider)
  assert.ok(Number(answer.headers['retry-after']) > 0)
  const { error_code } = answer.json() as { error_code: string }
  assert.equal(error_code, 'service_unavailable')
}

interface Entry {
  level: string
  provider?: string
  err?: { message: string }
}

/** The providers that the log says are down. */
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

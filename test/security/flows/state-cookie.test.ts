/**
 * A sign-in started with `bind_browser=true` can be completed by the same browser only
 * (docs/decisions/2026-11-21-browser-bound-state.md). Without it, anyone with the callback URL can complete it.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'

import {
  describe,
  type ExternalServer,
  providerEnv,
  verifiedProfile,
} from '../../support/external.ts'
import { sharedExternalServers } from '../../support/processes/shared-servers.ts'
import { bearer, getUser } from '../../support/requests.ts'
import { confirmedUser, newAddress } from '../../support/users.ts'

const secure = { AUTH_API_EXTERNAL_URL: 'https://auth.example' }
const ann = () => verifiedProfile(newAddress(), String(Math.floor(Math.random() * 1e9)))

interface Begun {
  /** `name=value`, as a browser sends it back. */
  cookie: string | undefined
  attributes: string[]
  provider: URL
  params: Record<string, string>
}

/** From /authorize to the provider, and the parameters it redirects back with. */
async function begin(
  { app, fakes }: ExternalServer,
  query: Record<string, string>,
  { path = '/authorize', headers = {} } = {},
): Promise<Begun> {
  const url = `${path}?${new URLSearchParams({ provider: 'github', ...query })}`
  const sent = await app.inject({ url, headers })
  assert.equal(sent.statusCode, 302, sent.body)
  const provider = new URL(String(sent.headers.location))
  const back = await fetch(provider, { redirect: 'manual' })
  assert.equal(back.status, 302, fakes.github.deviations.join())
  const params = Object.fromEntries(new URL(back.headers.get('location') ?? '').searchParams)
  const [cookie, ...attributes] = [sent.headers['set-cookie']].flat().join().split(/; */)
  return { cookie: cookie || undefined, attributes, provider, params }
}

async function finishSignIn(
  { app }: ExternalServer,
  params: Record<string, string>,
  cookie?: string,
) {
  const headers = cookie === undefined ? {} : { cookie }
  const response = await app.inject({ url: `/callback?${new URLSearchParams(params)}`, headers })
  const location = new URL(String(response.headers.location))
  const hash = new URLSearchParams(location.hash.slice(1))
  return {
    signedIn: hash.has('access_token'),
    error: location.searchParams.get('error_code'),
    cleared: /Max-Age=0/i.test(String(response.headers['set-cookie'])),
  }
}

suite('sign-in bound to the browser', () => {
  const servers = sharedExternalServers()

  const start = async (env: Record<string, string> = {}) => {
    const server = await servers({ ...secure, ...env })
    describe(server.fakes, 'github', ann())
    return server
  }

  test('sets a Secure HttpOnly SameSite=Lax cookie', async () => {
    const server = await start()
    const { cookie = '', attributes, params } = await begin(server, { bind_browser: 'true' })
    assert.match(
      cookie,
      new RegExp(`^__Host-postern-flow-${params.state?.slice(0, 8)}=[\\w-]{43}$`),
    )
    const expected = ['HttpOnly', 'Secure', 'Path=/', 'SameSite=Lax', 'Max-Age=300']
    assert.deepEqual(attributes.toSorted(), expected.toSorted())
  })

  test('sets SameSite=None for providers that post a form', async () => {
    const apple = { ...providerEnv('apple', ''), AUTH_EXTERNAL_APPLE_SECRET: 'jwt' }
    const { app } = await start(apple)
    const sent = await app.inject('/authorize?provider=apple&bind_browser=true')
    assert.equal(sent.statusCode, 302, sent.body)
    assert.match(String(sent.headers['set-cookie']), /; Secure; SameSite=None$/)
  })

  test('reveals the cookie value neither to the provider nor in the database', async () => {
    const server = await start()
    const { cookie = '', provider } = await begin(server, { bind_browser: 'true' })
    const value = cookie.split('=')[1] ?? ''
    assert.ok(value)
    const hash = createHash('sha256').update(value)
    assert.ok(!provider.searchParams.has('bind_browser'))
    const rows = JSON.stringify(await server.app.db.selectFrom('flow_state').selectAll().execute())
    for (const secret of [value, hash.copy().digest('hex'), hash.digest('base64url')]) {
      assert.ok(!provider.href.includes(secret) && !rows.includes(secret))
    }
  })

  test('completes in the same browser and clears the cookie', async () => {
    const server = await start()
    const { cookie, params } = await begin(server, { bind_browser: 'true' })
    const response = await finishSignIn(server, params, `other=1; ${cookie}; more=2`)
    assert.deepEqual(response, { signedIn: true, error: null, cleared: true })
  })

  test('is rejected in another browser and stays valid in the first', async () => {
    const server = await start()
    const mine = await begin(server, { bind_browser: 'true' })
    const theirs = await begin(server, { bind_browser: 'true' })
    const name = mine.cookie?.split('=')[0]
    const wrong = [
      undefined,
      '',
      theirs.cookie,
      `${name}=`,
      `${name}=${'A'.repeat(43)}`,
      `${name}=${theirs.cookie?.split('=')[1]}`,
      `${mine.cookie}x`,
      mine.cookie?.toLowerCase(),
    ]
    for (const cookie of wrong) {
      const { signedIn, error } = await finishSignIn(server, mine.params, cookie)
      assert.deepEqual({ signedIn, error }, { signedIn: false, error: 'bad_oauth_state' }, cookie)
    }
    assert.ok((await finishSignIn(server, mine.params, mine.cookie)).signedIn)
  })

  test('sets no cookie by default', async () => {
    const server = await start()
    for (const query of [{}, { bind_browser: 'false' }]) {
      const { cookie, params } = await begin(server, query)
      assert.equal(cookie, undefined)
      assert.ok((await finishSignIn(server, params, '__Host-postern-flow-x=y')).signedIn)
    }
  })

  test('AUTH_EXTERNAL_BIND_BROWSER=always binds each sign-in', async () => {
    const server = await start({ AUTH_EXTERNAL_BIND_BROWSER: 'always' })
    const { cookie, params } = await begin(server, { bind_browser: 'false' })
    assert.equal((await finishSignIn(server, params)).error, 'bad_oauth_state')
    assert.ok((await finishSignIn(server, params, cookie)).signedIn)
  })

  test('AUTH_EXTERNAL_BIND_BROWSER=always binds linking', async () => {
    const env = {
      AUTH_EXTERNAL_BIND_BROWSER: 'always',
      AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    }
    const server = await start(env)
    const attacker = await confirmedUser(server)
    const linking = { path: '/user/identities/authorize', headers: bearer(attacker) }
    const { cookie, params } = await begin(server, {}, linking)
    assert.equal((await finishSignIn(server, params)).error, 'bad_oauth_state')
    assert.equal((await getUser(server.app, attacker)).json().identities.length, 1)
    assert.ok((await finishSignIn(server, params, cookie)).signedIn)
  })

  test('is set without Secure over plain HTTP', async () => {
    const server = await start({ AUTH_API_EXTERNAL_URL: 'http://auth.example' })
    const { cookie = '', attributes, params } = await begin(server, { bind_browser: 'true' })
    assert.match(cookie, /^postern-flow-/)
    assert.ok(!attributes.includes('Secure'))
    assert.ok((await finishSignIn(server, params, cookie)).signedIn)
  })
})
